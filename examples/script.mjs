// What the scripted models of the examples do, whichever API they speak. The script is in the prompt: a line `name {"an":"argument"}` is a call of
// a tool, and a line with `+ ` before it is made together with the one above. A call that came back pending is waited for with await_answer, as
// its result tells a model to do. Then the model says what came back, and ends its turn.

const line = /^(\+ )?([A-Za-z_][\w.-]*) (\{.*\})$/;

/** next says what a model does that was told `said` and got `results` ({name, text}, in order): {calls: [{name, input}]} or {text}. */
export function next(said, results) {
  const last = results.at(-1);
  const pending = last && /\\?"status\\?":\s*\\?"pending/.test(last.text) && /int_[a-z2-7]{26}/.exec(last.text);
  if (pending) {
    return { calls: [{ name: last.name.replace(/(ask|request_approval|await_answer)$/, "await_answer"), input: { interaction_id: pending[0] } }] };
  }
  const done = results.filter((r) => !r.name.endsWith("await_answer")).length;
  const groups = [];
  for (const [, joined, name, input] of said.split("\n").map((l) => line.exec(l.trim())).filter(Boolean)) {
    if (!joined) groups.push([]);
    groups.at(-1).push({ name, input: JSON.parse(input) });
  }
  let before = 0;
  for (const calls of groups) {
    if (before === done) return { calls };
    before += calls.length;
  }
  return { text: `It came back with: ${last ? last.text : "nothing"}` };
}

/** textOf is the text of a content that is a string, or parts of which some have a text. */
export function textOf(content) {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
}
