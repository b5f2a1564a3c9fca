// A model that is a script: it speaks Anthropic's Messages API on loopback, so that the real Claude Code can be tried without an account.
// What it does is in the prompt: see ../script.mjs. `$PLAN` in a call is the file that plan mode names for the plan.
//
//   node model.mjs          prints the address it listens on
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { next, textOf } from "../script.mjs";

function read(messages) {
  const parts = messages.flatMap((m) => (Array.isArray(m.content) ? m.content : []));
  const calls = new Map(parts.filter((b) => b.type === "tool_use").map((b) => [b.id, b]));
  const result = (b) => ({ name: calls.get(b.tool_use_id)?.name ?? "", input: calls.get(b.tool_use_id)?.input, text: textOf(b.content) });
  const said = messages.filter((m) => m.role === "user").map((m) => textOf(m.content)).join("\n");
  return { said, results: parts.filter((b) => b.type === "tool_result").map(result) };
}

let made = 0;

function answer(request, heard) {
  const { said, results } = read(request.messages);
  const step = request.tools?.length ? next(said, results) : { text: "nothing" };
  if (request.tools?.length) heard.splice(0, results.length, ...results);
  if (!step.calls) return { stop: "end_turn", blocks: [{ type: "text", text: step.text }] };
  const plan = /[^\s"'`\\]+\/plans\/[\w-]+\.md/.exec(JSON.stringify(request))?.[0];
  const input = (i) => JSON.parse(JSON.stringify(i).replaceAll("$PLAN", plan));
  return { stop: "tool_use", blocks: step.calls.map((c) => ({ type: "tool_use", id: `toolu_fake${String(++made).padStart(6, "0")}`, name: c.name, input: input(c.input) })) };
}

function send(res, model, { stop, blocks }) {
  const event = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  res.writeHead(200, { "content-type": "text/event-stream" });
  event("message_start", { message: { id: "msg_fake", type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } });
  blocks.forEach((block, index) => {
    const delta = block.type === "text" ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    event("content_block_start", { index, content_block: block.type === "text" ? { ...block, text: "" } : { ...block, input: {} } });
    event("content_block_delta", { index, delta });
    event("content_block_stop", { index });
  });
  event("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } });
  event("message_stop", {});
  res.end();
}

/** listen starts a model: its url, and heard, the results that its latest conversation has. It thinks until the promise `thought` is kept. */
export function listen() {
  const heard = [];
  const model = { heard, thought: Promise.resolve() };
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (part) => (body += part));
    req.on("end", async () => {
      await model.thought;
      if (req.method !== "POST" || !req.url.startsWith("/v1/messages")) {
        res.writeHead(404, { "content-type": "application/json" }).end("{}");
        return;
      }
      const request = JSON.parse(body);
      if (request.stream) return send(res, request.model, answer(request, heard));
      const { stop, blocks } = req.url.includes("count_tokens") ? {} : answer(request, heard);
      const whole = { id: "msg_fake", type: "message", role: "assistant", model: request.model, content: blocks, stop_reason: stop, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(blocks ? whole : { input_tokens: 1 }));
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(Object.assign(model, { url: `http://127.0.0.1:${server.address().port}`, server }))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await listen()).url);
