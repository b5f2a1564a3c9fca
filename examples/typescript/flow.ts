// An agent and its person, over the REST API. It says what happens on standard output, and fails when anything is not as it should be.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/sayso.js";

const url = env("SAYSO_URL");
const operatorKey = env("SAYSO_OPERATOR_KEY");

function env(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}`);
  return value;
}

const as = (key: string) => createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
const agent = as(env("SAYSO_AGENT_KEY")); // what the agent's runtime does
const person = as(operatorKey); // what a person's tools do

type Failure = components["schemas"]["Error"];

/** The data of an answer; a failure is thrown as what the server says. */
function ok<T>(answer: { data?: T; error?: Failure; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.status} ${answer.error?.code}: ${answer.error?.error}`);
  return answer.data;
}

/** The one thing in a list. */
function only<T>(list: T[]): T {
  assert.equal(list.length, 1);
  return list[0] as T;
}

const project = { orgID: "default", projectID: "default" };
const projectPath = "/api/v1/orgs/{orgID}/projects/{projectID}";
const agentPath = `${projectPath}/agents/{agentID}` as const;

const created = ok(await agent.POST(`${projectPath}/agents`, { params: { path: project }, body: { name: "TypeScript flow" } })).agent;
const at = { ...project, agentID: created.id };
console.log("agent", created.name);

// The agent says what it does, and wants to run something.
const report = ok(
  await agent.POST(`${agentPath}/events`, {
    params: { path: at, header: { "Idempotency-Key": `turn-1-${created.id}` } },
    body: {
      events: [
        { event_kind: "user_message", content_blocks: [{ type: "text", text: "Release it." }] },
        {
          event_kind: "model_output",
          content_blocks: [
            { type: "reasoning", text: "The tag is missing." },
            { type: "tool_call", name: "Bash", input: { command: "git push --tags" }, provider_call_id: "toolu_1" },
          ],
          stop_reason: "tool_use",
        },
      ],
    },
  }),
);
const call = only(report.tool_calls);
assert.equal(call.state, "awaiting_permission");
assert.ok(call.interaction_id);

// A person allows it; the agent, which waits, is told, runs it and says how it went.
const interaction = { ...at, interactionID: call.interaction_id };
const waiting = agent.GET(`${agentPath}/interactions/{interactionID}`, { params: { path: interaction, query: { wait_secs: 55 } } });
const resolved = ok(
  await person.POST(`${agentPath}/interactions/{interactionID}/resolve`, { params: { path: interaction }, body: { answers: [{ option_indices: [0] }] } }),
);
assert.equal(resolved.state, "resolved");
assert.equal(ok(await waiting).resolved_by_input_id, resolved.resolved_by_input_id);
const done = ok(
  await agent.POST(`${agentPath}/tool-calls/{callID}/result`, {
    params: { path: { ...at, callID: call.id } },
    body: { outcome: "succeeded", content_blocks: [{ type: "text", text: "v1.2.0" }] },
  }),
);
assert.equal(done.tool_call.outcome, "succeeded");
console.log("allowed and run:", call.name);

// A second answer that differs is told how it ended.
const late = await person.POST(`${agentPath}/interactions/{interactionID}/resolve`, { params: { path: interaction }, body: { answers: [{ option_indices: [1] }] } });
assert.equal(late.response.status, 409);
assert.equal(late.error?.code, "idempotency_key_conflict");
assert.ok(late.error && "interaction" in late.error);
assert.equal(late.error.interaction?.resolved_by?.name, resolved.resolved_by?.name);

// The agent asks again; the person writes to it instead, and what it asked is superseded.
const asked = ok(
  await agent.POST(`${agentPath}/interactions`, { params: { path: at }, body: { tool_call: { name: "Bash", input: { command: "npm publish" } } } }),
);
assert.ok("id" in asked);
const queued = ok(await person.POST(`${agentPath}/inputs`, { params: { path: at }, body: { content_blocks: [{ type: "text", text: "Then write the notes." }] } })).agent_input;
const steering = ok(
  await person.POST(`${agentPath}/inputs`, {
    params: { path: at },
    body: { content_blocks: [{ type: "text", text: "Do not publish." }], delivery_mode: "steering", cancel_open_interactions: true },
  }),
).agent_input;
const superseded = ok(await person.GET(`${agentPath}/interactions/{interactionID}`, { params: { path: { ...at, interactionID: asked.id } } }));
assert.equal(superseded.cancel_reason, "superseded_by_input");
assert.equal(superseded.resolved_by_input_id, steering.id);
console.log("steered:", superseded.request.title);

// The agent takes what waits: what steers, then what is queued, then nothing.
const claim = async () => ok(await agent.POST(`${agentPath}/inputs/claim`, { params: { path: at, query: { wait_secs: 0 } } })).agent_input?.id;
assert.equal(only(ok(await person.GET(`${agentPath}/inputs/backlog`, { params: { path: at } })).data).id, queued.id);
assert.deepEqual([await claim(), await claim(), await claim()], [steering.id, queued.id, undefined]);

// A stop ends what goes on; there is then nothing to stop, and the agent is put away.
const stopped = ok(await person.POST(`${agentPath}/cancel`, { params: { path: at } }));
assert.equal(stopped.event?.agent_input?.control, "stop");
assert.equal(ok(await person.POST(`${agentPath}/cancel`, { params: { path: at } })).affected, false);
assert.equal(ok(await person.POST(`${agentPath}/archive`, { params: { path: at } })).agent.state, "archived");
const refused = await agent.POST(`${agentPath}/events`, { params: { path: at }, body: { events: [{ event_kind: "model_output", content_blocks: [{ type: "text", text: "Done." }] }] } });
assert.equal(refused.error?.code, "conflict");

// The whole conversation, read in pages, and the same as a stream that is cut and taken up again.
type Event = components["schemas"]["Event"];
const log: Event[] = [];
for (let after = 0, more = true; more; ) {
  const page = ok(await person.GET(`${agentPath}/events`, { params: { path: at, query: { after_sequence: after, limit: 3 } } }));
  log.push(...page.data);
  after = page.next_after_sequence ?? after;
  more = page.has_more;
}
const told = (e: Event) => (e.event_kind === "agent_input" ? (e.agent_input?.control ?? e.agent_input?.input_kind) : e.event_kind);
assert.deepEqual(log.map(told), ["content", "model_output", "interaction_response", "tool_result", "tool_result", "content", "content", "stop", "archive"]);

/** Some events of a stream, from behind the one that was seen last. */
async function stream(last: number, count: number): Promise<Event[]> {
  const cut = new AbortController();
  const response = await fetch(`${url}/api/v1/orgs/default/projects/default/agents/${at.agentID}/events/stream`, {
    headers: { Authorization: `Bearer ${operatorKey}`, "Last-Event-ID": String(last) },
    signal: cut.signal,
  });
  assert.ok(response.ok && response.body);
  const events: Event[] = [];
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages.filter((m) => m.startsWith("id: "))) {
      const data = message.split("\n").filter((line) => line.startsWith("data: "));
      events.push(JSON.parse(data.map((line) => line.slice(6)).join("\n")) as Event);
    }
    if (events.length >= count) break;
  }
  cut.abort();
  return events.slice(0, count);
}
const first = await stream(0, 4);
const rest = await stream(first.at(-1)?.sequence ?? 0, log.length - 4);
assert.deepEqual([...first, ...rest], log);
console.log("streamed", log.length, "events");
