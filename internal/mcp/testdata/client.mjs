// A client of the official TypeScript SDK. It asks, and prints what it gets, one line of JSON each; the test answers meanwhile.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { URL_OF_MCP, KEY, COMMAND, ...environment } = process.env;
const transport = URL_OF_MCP
  ? new StreamableHTTPClientTransport(new URL(URL_OF_MCP), { requestInit: { headers: { Authorization: `Bearer ${KEY}` } } })
  : new StdioClientTransport({ command: COMMAND, args: ["mcp", "serve"], env: environment });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);

const tell = (what) => console.log(JSON.stringify(what));
tell((await client.listTools()).tools.map((tool) => tool.name));

let progress = 0;
const patiently = { timeout: 60_000, resetTimeoutOnProgress: true, onprogress: () => progress++ };
const ask = { name: "ask", arguments: { question: "Which branch?", options: ["main", "release"] } };
const asked = await client.callTool(ask, undefined, patiently);
tell({ structured: asked.structuredContent, isError: asked.isError ?? false, progress: progress > 0 });

const input = { command: "echo <hi> > out", n: 10 };
const approved = await client.callTool({ name: "request_approval", arguments: { tool_name: "Bash", input, tool_use_id: "toolu_1" } }, undefined, patiently);
tell({ text: JSON.parse(approved.content[0].text), blocks: approved.content.length, structured: approved.structuredContent ?? "none" });

const canceling = new AbortController();
const canceled = client.callTool(ask, undefined, { ...patiently, signal: canceling.signal, onprogress: () => canceling.abort() });
await canceled.then(() => tell("not canceled"), () => tell("canceled"));
for await (const _ of process.stdin); // closing at once would break off the notification that says so
await client.close();
