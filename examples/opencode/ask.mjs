// Tries Sayso's tools with the real opencode, set up by `sayso setup opencode`. What it printed is in README.md.
//
//   node examples/opencode/ask.mjs [case …]
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cases } from "../asking.mjs";
import { play } from "../stage.mjs";
import { listen } from "./model.mjs";

const opencode = process.env.OPENCODE ?? "opencode";

const agent = {
  setup: "opencode",
  tool: (name) => `sayso_${name}`,
  configure(stage) {
    mkdirSync(join(stage.home, ".config/opencode"), { recursive: true });
    const script = { npm: "@ai-sdk/openai-compatible", options: { baseURL: `${stage.model.url}/v1`, apiKey: "made-up" }, models: { "made-up": { name: "made-up" } } };
    const config = { $schema: "https://opencode.ai/config.json", autoupdate: false, share: "disabled", model: "script/made-up", small_model: "script/made-up", provider: { script } };
    writeFileSync(join(stage.home, ".config/opencode/opencode.json"), JSON.stringify(config));
  },
  overHTTP(stage) {
    const file = join(stage.home, ".config/opencode/opencode.json");
    const server = { type: "remote", url: `${stage.url}/mcp`, headers: { Authorization: `Bearer ${stage.key}` }, oauth: false, timeout: 86400000 };
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), mcp: { sayso: server } }));
  },
  // It puts an argument with blanks in quotes, and joins them with blanks.
  run: (stage, prompt) => stage.agent(opencode, ["run", ...prompt.split(" ")], { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" }),
};

await play(`opencode ${execFileSync(opencode, ["--version"], { encoding: "utf8" }).trim()}`, cases(agent), listen);
