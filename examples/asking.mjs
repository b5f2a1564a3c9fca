// What is tried of Sayso's tools, the same with each agent's program. An agent has
//   setup                 what `sayso setup` calls it
//   tool(name)            what its model calls a tool of ours
//   configure(stage)      writes the configuration of its model; `sayso setup` adds ours
//   overHTTP(stage)       adds ours over HTTP instead
//   run(stage, prompt)    starts it
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { moment, sayso, tell } from "./stage.mjs";

const question = { question: "Which branch?", options: ["main", "release"] };
const questions = {
  questions: [
    { question: "Which colour?", header: "Colour", options: [{ label: "Red" }, { label: "Blue" }] },
    { question: "Which features?", header: "Features", multi_select: true, options: [{ label: "Auth" }, { label: "Push" }] },
  ],
};

async function prepare(stage, agent, hold) {
  agent.configure(stage);
  const said = execFileSync(sayso, ["setup", agent.setup, "--agent-id", agent.setup, "--write"], { cwd: stage.shop, env: stage.env, encoding: "utf8" });
  const file = said.match(/^wrote (.*)$/m)[1];
  if (hold) writeFileSync(file, readFileSync(file, "utf8").replace(/"--agent-id"/, `"--hold-secs", "${hold}", "--agent-id"`));
}

async function outcome(stage) {
  const { code, said } = await stage.running;
  const end = stage.model.heard.at(-1);
  tell(`the model was told: ${end ? end.text.replace(/^Wall time: \S+ seconds\s+Output:\s+/, "") : `nothing; it ended with ${code}: ${said.slice(-1200)}`}`);
  tell(`ended with ${code}; cards in all: ${stage.cards(true).length}`);
}

export function cases(agent) {
  return {
    ask: async (stage) => {
      await prepare(stage, agent);
      agent.run(stage, `${agent.tool("ask")} ${JSON.stringify(question)}`);
      const [card] = await stage.asked();
      tell(`${card.agent_id} asks: ${card.question ?? card.action} ${JSON.stringify(card.options)}`);
      stage.answer(card, "--text", "release");
      await outcome(stage);
    },
    "ask over HTTP": async (stage) => {
      agent.configure(stage);
      agent.overHTTP(stage);
      agent.run(stage, `${agent.tool("ask")} ${JSON.stringify(question)}`);
      const [card] = await stage.asked();
      stage.answer(card, "--text", "release");
      await outcome(stage);
    },
    questions: async (stage) => {
      await prepare(stage, agent);
      agent.run(stage, `${agent.tool("ask")} ${JSON.stringify(questions)}`);
      const [card] = await stage.asked();
      stage.answer(card, "--select", "Colour=Blue", "--select", "Features=Auth,Push", "--text", "no hurry");
      await outcome(stage);
    },
    "words of one's own": async (stage) => {
      await prepare(stage, agent);
      agent.run(stage, `${agent.tool("ask")} ${JSON.stringify(question)}`);
      const [card] = await stage.asked();
      stage.answer(card, "--text", "neither: make a new one");
      await outcome(stage);
    },
    approval: async (stage) => {
      await prepare(stage, agent);
      const input = { tool_name: "deploy", arguments: { target: "production" } };
      agent.run(stage, `${agent.tool("request_approval")} ${JSON.stringify(input)}`);
      const [card] = await stage.asked();
      stage.answer(card, "--allow", "--updated-input", '{"target":"staging"}');
      await outcome(stage);
    },
    // The call comes back pending after 3 s, and await_answer goes on, as often as it takes.
    pending: async (stage) => {
      await prepare(stage, agent, 3);
      agent.run(stage, `${agent.tool("ask")} ${JSON.stringify(question)}`);
      const [card] = await stage.asked();
      await moment(8000);
      stage.answer(card, "--text", "main");
      await outcome(stage);
      tell(`its calls: ${stage.model.heard.map((r) => `${r.name.replace(/^.*?(ask|await_answer)$/, "$1")} ${/pending/.test(r.text) ? "pending" : "answered"}`).join(", ")}`);
    },
  };
}
