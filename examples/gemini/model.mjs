// A model that is a script: it speaks Gemini's API on loopback, so that the real Gemini CLI can be tried without an account. What it does is in the
// prompt: see ../script.mjs.
//
//   node model.mjs          prints the address it listens on
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { next, textOf } from "../script.mjs";

function answer({ contents, tools }, heard) {
  if (!tools) return [{ text: "{}" }];
  const said = contents.filter((c) => c.role === "user").map((c) => textOf(c.parts)).join("\n");
  const results = contents.flatMap((c) => c.parts ?? []).map((p) => p.functionResponse).filter(Boolean);
  heard.splice(0, heard.length, ...results.map((r) => ({ name: r.name, text: JSON.stringify(r.response) })));
  const step = next(said, heard);
  return step.calls ? step.calls.map(({ name, input }) => ({ functionCall: { name, args: input } })) : [{ text: step.text }];
}

/** listen starts a model: its url, and heard, the results that its latest conversation has. */
export function listen() {
  const heard = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (part) => (body += part));
    req.on("end", () => {
      const parts = answer(JSON.parse(body || "{}"), heard);
      const reply = { candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
      if (req.url.includes(":stream")) {
        res.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(reply)}\n\n`);
      } else {
        res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(req.url.includes(":count") ? { totalTokens: 1 } : reply));
      }
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({ url: `http://127.0.0.1:${server.address().port}`, heard, server })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await listen()).url);
