// A model that is a script: it speaks Anthropic's Messages API on loopback, so that the real Claude Code can be tried without an account.
// What it does is in the prompt: every line `Tool {"input":…}` is one tool call; then it says what came back and ends its turn.
//
//   node model.mjs          prints the address it listens on
import { createServer } from "node:http";

const call = /^([A-Za-z_]\w*) (\{.*\})$/;

function plan(messages) {
  const text = (m) => (typeof m.content === "string" ? m.content : m.content.filter((b) => b.type === "text").map((b) => b.text).join("\n"));
  const steps = messages.filter((m) => m.role === "user").flatMap((m) => text(m).split("\n")).map((l) => call.exec(l.trim())).filter(Boolean);
  const results = messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === "tool_result");
  return { steps, results };
}

function answer(request) {
  const { steps, results } = plan(request.messages);
  const step = request.tools?.length ? steps[results.length] : undefined;
  if (step) {
    const id = `toolu_fake${String(results.length + 1).padStart(6, "0")}`;
    return { stop: "tool_use", block: { type: "tool_use", id, name: step[1], input: JSON.parse(step[2]) } };
  }
  const last = results.at(-1);
  const said = last ? (typeof last.content === "string" ? last.content : JSON.stringify(last.content)) : "nothing";
  return { stop: "end_turn", block: { type: "text", text: `It came back with: ${said}` } };
}

function send(res, model, { stop, block }) {
  const event = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const delta = block.type === "text" ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  const empty = block.type === "text" ? { ...block, text: "" } : { ...block, input: {} };
  res.writeHead(200, { "content-type": "text/event-stream" });
  event("message_start", { message: { id: "msg_fake", type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } });
  event("content_block_start", { index: 0, content_block: empty });
  event("content_block_delta", { index: 0, delta });
  event("content_block_stop", { index: 0 });
  event("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } });
  event("message_stop", {});
  res.end();
}

const server = createServer((req, res) => {
  let body = "";
  req.on("data", (part) => (body += part));
  req.on("end", () => {
    if (req.method !== "POST" || !req.url.startsWith("/v1/messages")) {
      res.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const request = JSON.parse(body);
    if (request.stream) return send(res, request.model, answer(request));
    const { stop, block } = req.url.includes("count_tokens") ? {} : answer(request);
    const whole = { id: "msg_fake", type: "message", role: "assistant", model: request.model, content: [block], stop_reason: stop, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(block ? whole : { input_tokens: 1 }));
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
