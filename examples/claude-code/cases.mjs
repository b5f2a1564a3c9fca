// Tries what people do with cards, and what happens to servers, with the real Claude Code under `claude -p`, over standard input and output and
// over HTTP. What it printed is in cases.txt.
//
//   node examples/claude-code/cases.mjs [case …]       all that are not slow, by default
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { moment, play, sayso, tell } from "../stage.mjs";
import { listen } from "./model.mjs";

const claude = process.env.CLAUDE ?? "claude";
const call = (name, input) => `${name} ${JSON.stringify(input)}`;
const bash = (command) => call("Bash", { command, description: "Run a command" });

// connect is the configuration of the client: for standard input and output, what `sayso setup claude` writes.
function connect(stage, transport) {
  const file = join(stage.shop, ".mcp.json");
  if (transport === "http") {
    const server = { type: "http", url: `${stage.url}/mcp`, headers: { Authorization: `Bearer ${stage.key}` }, alwaysLoad: true };
    writeFileSync(file, JSON.stringify({ mcpServers: { sayso: server } }));
  } else {
    execFileSync(sayso, ["setup", "claude", "--agent-id", "swe", "--write"], { cwd: stage.shop, env: stage.env });
  }
  return file;
}

function ask(stage, transport, prompt, flags = [], seconds = 180) {
  const args = ["-p", prompt, "--permission-prompt-tool", "mcp__sayso__request_approval", "--mcp-config", connect(stage, transport), ...flags];
  const env = { ANTHROPIC_BASE_URL: stage.model.url, ANTHROPIC_API_KEY: "sk-ant-made-up", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_ERROR_REPORTING: "1" };
  return stage.agent(claude, [...args, "--output-format", "json"], env, seconds);
}

async function outcome(stage) {
  const { code, said } = await stage.running;
  const result = /"result":"((?:[^"\\]|\\.)*)"/.exec(said);
  tell(`Claude Code ended with ${code}: ${result ? JSON.parse(`"${result[1]}"`) : said.slice(-800)}`);
}

const edited = (transport) => async (stage) => {
  ask(stage, transport, bash("mkdir proposed"));
  const [card] = await stage.asked();
  tell(`the card: ${card.tool_name} ${JSON.stringify(card.arguments)}`);
  stage.answer(card, "--allow", "--updated-input", JSON.stringify({ ...card.arguments, command: "mkdir edited" }));
  await outcome(stage);
  tell(stage.made("proposed", "edited"));
};

const plan = (transport, allow) => async (stage) => {
  const text = "# Rename the shop\n\n1. Make `sign`.\n2. Tell **nobody**.\n";
  const then = bash("mkdir sign");
  ask(stage, transport, [call("Write", { file_path: "$PLAN", content: text }), call("ExitPlanMode", {}), ...(allow ? [then] : [])].join("\n"), ["--permission-mode", "plan"]);
  const [card] = await stage.asked();
  tell(`the card: ${card.tool_name}, plan ${JSON.stringify(card.arguments.plan)}`);
  const shown = execFileSync(sayso, ["agent", "interactions", "show", card.id], { env: stage.env, encoding: "utf8" });
  tell(`all of it shown, line by line: ${text.trim().split("\n").every((line) => shown.includes(`    ${line}\n`) || !line)}`);
  stage.answer(card, ...(allow ? ["--allow"] : ["--deny", "--message", "Tell everybody, not nobody."]));
  if (allow) {
    const [next] = await stage.asked();
    tell(`then: ${next.tool_name} ${JSON.stringify(next.arguments)}`);
    stage.answer(next, "--allow");
  }
  await outcome(stage);
  tell(`of the plan it heard: ${stage.model.heard[1].text.slice(0, 90)}`);
  tell(stage.made("sign"));
};

// Two subagents ask at the same time.
const parallel = (transport) => async (stage) => {
  const agent = (name) => call("Agent", { description: name, subagent_type: "general-purpose", run_in_background: false, prompt: bash(`mkdir ${name}`) });
  ask(stage, transport, `${agent("first")}\n+ ${agent("second")}`);
  const cards = await stage.asked(2);
  tell(`two cards at once: ${cards.map((c) => c.arguments.command).sort().join(", ")}`);
  const of = (name) => cards.find((c) => c.arguments.command.endsWith(name));
  cards.reverse();
  stage.answer(cards[0], ...(cards[0] === of("first") ? ["--allow"] : ["--deny", "--message", "one is enough"]));
  await moment(1000);
  stage.answer(cards[1], ...(cards[1] === of("first") ? ["--allow"] : ["--deny", "--message", "one is enough"]));
  await stage.running;
  for (const { input, text } of stage.model.heard) tell(`the subagent ${input.description}: ${/It came back with: .*/.exec(text)?.[0] ?? text}`);
  tell(stage.made("first", "second"));
};

// Two calls in one message.
const together = (transport) => async (stage) => {
  ask(stage, transport, `${bash("mkdir first")}\n+ ${bash("mkdir second")}`);
  let seen = 0;
  for (const allow of [true, false]) {
    const cards = await stage.asked();
    seen = Math.max(seen, cards.length);
    await moment(1500);
    seen = Math.max(seen, stage.cards().length);
    stage.answer(cards[0], ...(allow ? ["--allow"] : ["--deny", "--message", "one is enough"]));
    tell(`${allow ? "allowed" : "denied"}: ${cards[0].arguments.command}`);
  }
  await outcome(stage);
  tell(`cards at once: ${seen}; ${stage.made("first", "second")}`);
};

const slow = (transport, seconds) =>
  Object.assign(
    async (stage) => {
      const began = Date.now();
      ask(stage, transport, bash("mkdir late"), [], seconds + 120);
      const [card] = await stage.asked();
      await moment(seconds * 1000);
      tell(`answered after ${Math.round((Date.now() - began) / 1000)} s`);
      stage.answer(card, "--allow");
      await outcome(stage);
      tell(`${stage.made("late")}; cards in all: ${stage.cards(true).length}`);
    },
    { slow: true },
  );

// The server ends while a card is open, by its own end or a kill, and starts again some seconds later; the card is answered after that.
const restart = (transport, signal, seconds = 2, calls = 1) =>
  Object.assign(
    async (stage) => {
      ask(stage, transport, Array(calls).fill(bash("mkdir kept")).join("\n"), [], 400);
      const [card] = await stage.asked();
      await moment(2000);
      let goOn;
      stage.model.thought = new Promise((done) => (goOn = done)); // what it makes of a failed call, it makes of it later
      await stage.stop(signal);
      await moment(seconds * 1000);
      await stage.serve();
      if (calls > 1) await moment(60_000); // Claude Code needs a while to find that the server is back
      goOn();
      if (calls > 1) {
        await stage.until("the end of the first call", () => stage.model.heard.length > 0, 200);
        tell(`of the first call it heard: ${stage.model.heard[0].text}`);
      }
      await moment(3000);
      const open = stage.cards();
      tell(`after the restart: ${open.length} open card, ${open[0]?.id === card.id ? "the same" : "another one"}`);
      stage.answer(open[0], "--allow");
      await outcome(stage);
      tell(`${stage.made("kept")}; cards in all: ${stage.cards(true).length}`);
    },
    { slow: calls > 1 },
  );

const cases = {
  "edited-stdio": edited("stdio"),
  "edited-http": edited("http"),
  "plan-allowed": plan("stdio", true),
  "plan-denied": plan("http", false),
  "parallel-stdio": parallel("stdio"),
  "parallel-http": parallel("http"),
  "together": together("stdio"),
  "restart-stdio": restart("stdio", "SIGTERM"),
  "away-stdio": restart("stdio", "SIGTERM", 40),
  "restart-stdio-killed": restart("stdio", "SIGKILL"),
  "restart-http": restart("http", "SIGTERM"),
  "restart-http-killed": restart("http", "SIGKILL"),
  "away-http": restart("http", "SIGTERM", 70, 2), // too long for Claude Code: the call is lost to it, and a model makes it again
  "slow-http": slow("http", 310),
  "slow-stdio": slow("stdio", 310),
};

await play(`Claude Code ${execFileSync(claude, ["--version"], { encoding: "utf8" }).trim()}`, cases, listen);
