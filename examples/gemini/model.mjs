// A model that is a script: it speaks Gemini's API on loopback, so that the real Gemini CLI can be tried without an account. It makes one folder, and
// says what came back.
//
//   node model.mjs          prints the address it listens on
import { createServer } from "node:http";

function answer({ contents, tools }) {
  const last = contents.flatMap((c) => c.parts ?? []).filter((p) => p.functionResponse).at(-1);
  if (last) return { text: `It came back with: ${JSON.stringify(last.functionResponse.response)}` };
  return tools ? { functionCall: { name: "run_shell_command", args: { command: "mkdir made", description: "Make a folder" } } } : { text: "{}" };
}

const server = createServer((req, res) => {
  let body = "";
  req.on("data", (part) => (body += part));
  req.on("end", () => {
    const reply = { candidates: [{ index: 0, content: { role: "model", parts: [answer(JSON.parse(body || "{}"))] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
    if (req.url.includes(":stream")) {
      res.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(reply)}\n\n`);
    } else {
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(req.url.includes(":count") ? { totalTokens: 1 } : reply));
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
