// A model that is a script: it speaks the Responses API on loopback, so that the real Codex can be tried without an account. What it does is in the
// prompt: see ../script.mjs. Tools of MCP servers stand in namespaces: one is named namespace.tool there.
//
//   node model.mjs          prints the address it listens on
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { next, textOf } from "../script.mjs";

let made = 0;

function answer({ input }, heard) {
  const names = new Map(input.filter((i) => i.type === "function_call").map((i) => [i.call_id, i.name]));
  const said = input.filter((i) => i.role === "user").map((i) => textOf(i.content)).join("\n");
  const results = input.filter((i) => i.type === "function_call_output").map((i) => ({ name: names.get(i.call_id) ?? "", text: textOf(i.output) }));
  heard.splice(0, heard.length, ...results);
  const step = next(said, results);
  if (!step.calls) return [{ type: "message", role: "assistant", id: "m1", content: [{ type: "output_text", text: step.text }] }];
  return step.calls.map(({ name, input }) => {
    const [tool, namespace] = name.split(".").reverse();
    const id = ++made;
    // await_answer stands where ask does
    const of = namespace ?? (/^(ask|request_approval|await_answer)$/.test(tool) ? "mcp__sayso" : undefined);
    return { type: "function_call", id: `f${id}`, call_id: `call_${id}`, ...(of && { namespace: of }), name: tool, arguments: JSON.stringify(input) };
  });
}

/** listen starts a model: its url, and heard, the results that its latest conversation has. */
export function listen() {
  const heard = [];
  const tools = [];
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
      const request = JSON.parse(body);
      tools.splice(0, tools.length, ...(request.tools ?? []));
      res.writeHead(200, { "content-type": "text/event-stream" });
      event("response.created", { response: { id: "r1" } });
      answer(request, heard).forEach((item, n) => event("response.output_item.done", { output_index: n, item }));
      event("response.completed", { response: { id: "r1", usage } });
      res.end();
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({ url: `http://127.0.0.1:${server.address().port}`, heard, tools, server })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await listen()).url);
