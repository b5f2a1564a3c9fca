// Tries Sayso's tools with the real Gemini CLI, set up by `sayso setup gemini`. What it printed is in README.md.
//
//   node examples/gemini/ask.mjs [case …]
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cases } from "../asking.mjs";
import { play } from "../stage.mjs";
import { listen } from "./model.mjs";

const gemini = process.env.GEMINI ?? "gemini";

const agent = {
  setup: "gemini",
  tool: (name) => `mcp_sayso_${name}`,
  configure(stage) {
    mkdirSync(join(stage.home, ".gemini"));
    const settings = { security: { auth: { selectedType: "gemini-api-key" } }, telemetry: { enabled: false }, privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } };
    writeFileSync(join(stage.home, ".gemini/settings.json"), JSON.stringify(settings));
  },
  overHTTP(stage) {
    const file = join(stage.home, ".gemini/settings.json");
    const server = { httpUrl: `${stage.url}/mcp`, headers: { Authorization: `Bearer ${stage.key}` }, timeout: 86400000, trust: true };
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), mcpServers: { sayso: server } }));
  },
  run: (stage, prompt) =>
    stage.agent(gemini, ["-m", "gemini-2.5-flash", "-p", prompt], { GEMINI_API_KEY: "made-up", GEMINI_CLI_TRUST_WORKSPACE: "true", GOOGLE_GEMINI_BASE_URL: stage.model.url }),
};

const version = execFileSync(gemini, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
await play(`Gemini CLI ${version}`, cases(agent), listen);
