// A model that is a script: it speaks the Chat Completions API on loopback, so that the real opencode can be tried without an account. What it does is
// in the prompt: see ../script.mjs.
//
//   node model.mjs          prints the address it listens on
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { next, textOf } from "../script.mjs";

let made = 0;

function answer({ messages, tools }, heard) {
  if (!tools?.length) return { content: "A try" }; // the title of the session
  const names = new Map(messages.flatMap((m) => m.tool_calls ?? []).map((c) => [c.id, c.function.name]));
  const said = messages.filter((m) => m.role === "user").map((m) => textOf(m.content)).join("\n");
  const results = messages.filter((m) => m.role === "tool").map((m) => ({ name: names.get(m.tool_call_id) ?? "", text: textOf(m.content) }));
  heard.splice(0, heard.length, ...results);
  const step = next(said, results);
  if (!step.calls) return { content: step.text };
  return { tool_calls: step.calls.map(({ name, input }, index) => ({ index, id: `call_${++made}`, type: "function", function: { name, arguments: JSON.stringify(input) } })) };
}

function send(res, model, said) {
  const chunk = (delta, finish_reason = null) =>
    res.write(`data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  res.writeHead(200, { "content-type": "text/event-stream" });
  chunk({ role: "assistant", ...said });
  chunk({}, said.tool_calls ? "tool_calls" : "stop");
  res.end("data: [DONE]\n\n");
}

/** listen starts a model: its url, and heard, the results that its latest conversation has. */
export function listen() {
  const heard = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (part) => (body += part));
    req.on("end", () => {
      if (!req.url.endsWith("/chat/completions")) {
        res.writeHead(404, { "content-type": "application/json" }).end("{}");
        return;
      }
      const request = JSON.parse(body);
      const said = answer(request, heard);
      if (request.stream) return send(res, request.model, said);
      const choices = [{ index: 0, message: { role: "assistant", ...said }, finish_reason: said.tool_calls ? "tool_calls" : "stop" }];
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "c1", object: "chat.completion", created: 1, model: request.model, choices }));
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({ url: `http://127.0.0.1:${server.address().port}`, heard, server })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await listen()).url);
