// Tries Sayso's tools with the real Codex, set up by `sayso setup codex`. What it printed is in README.md.
//
//   node examples/codex/ask.mjs [case …]
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cases } from "../asking.mjs";
import { play } from "../stage.mjs";
import { listen } from "./model.mjs";

const codex = process.env.CODEX ?? "codex";

const agent = {
  setup: "codex",
  tool: (name) => `mcp__sayso.${name}`,
  configure(stage) {
    mkdirSync(join(stage.home, ".codex"));
    const provider = `[model_providers.script]\nname = "script"\nbase_url = "${stage.model.url}/v1"\nwire_api = "responses"\nenv_key = "MADE_UP_KEY"\n`;
    writeFileSync(join(stage.home, ".codex/config.toml"), `model = "made-up"\nmodel_provider = "script"\n\n${provider}`);
  },
  overHTTP(stage) {
    const server = `url = "${stage.url}/mcp"\nbearer_token_env_var = "SAYSO_KEY"\ntool_timeout_sec = 86400\n`;
    appendFileSync(join(stage.home, ".codex/config.toml"), `\n[mcp_servers.sayso]\n${server}`);
  },
  run: (stage, prompt) => stage.agent(codex, ["exec", "--skip-git-repo-check", prompt], { MADE_UP_KEY: "x", SAYSO_KEY: stage.key }),
};

await play(execFileSync(codex, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim(), cases(agent), listen);
