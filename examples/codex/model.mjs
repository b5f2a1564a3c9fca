// A model that is a script: it speaks the Responses API on loopback, so that the real Codex can be tried without an account. It makes one folder, and
// says what came back.
//
//   node model.mjs          prints the address it listens on
import { createServer } from "node:http";

function answer({ input }) {
  const last = input.filter((i) => i.type === "function_call_output").at(-1);
  if (!last) return { type: "function_call", id: "f1", call_id: "call_1", name: "exec_command", arguments: JSON.stringify({ cmd: "mkdir made" }) };
  const text = typeof last.output === "string" ? last.output : JSON.stringify(last.output);
  return { type: "message", role: "assistant", id: "m1", content: [{ type: "output_text", text: `It came back with: ${text}` }] };
}

const server = createServer((req, res) => {
  let body = "";
  req.on("data", (part) => (body += part));
  req.on("end", () => {
    if (!req.url.endsWith("/responses")) {
      res.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const event = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    res.writeHead(200, { "content-type": "text/event-stream" });
    event("response.created", { response: { id: "r1" } });
    event("response.output_item.done", { output_index: 0, item: answer(JSON.parse(body)) });
    event("response.completed", { response: { id: "r1", usage } });
    res.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
