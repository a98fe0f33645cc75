// Drives an agent with HttpAgent of @ag-ui/client, which verifies the order of events.
// run.mjs URL MODE [STATE]: chat | ask | answer | watch, with the state of the agent of ask.
import assert from "node:assert/strict";
import { HttpAgent } from "@ag-ui/client";

const [url, mode, saved] = process.argv.slice(2);
const question =
  "Nora Lindqvist writes on 2026-11-16: The kettle of my last order has a broken spout and two of the four cups came in pieces. " +
  "I paid for express, and it was late. I want my money back, no replacements.";

// run runs an agent and returns its events.
async function run(agent, parameters) {
  const events = [];
  const result = await agent.runAgent(parameters, {
    onEvent: ({ event }) => void events.push(event),
    onRunFailed: ({ error }) => void events.push({ type: "FAILED", message: error.message }),
  });
  return { events, types: events.map((e) => e.type), result };
}

function agentOf(name, messages, threadId) {
  return new HttpAgent({ url: `${url}/agui/${name}`, threadId, initialMessages: messages });
}

async function fails(agent, parameters, want) {
  await assert.rejects(run(agent, parameters), (e) => (assert.match(e.message, want), true));
}

const user = (id, content) => ({ id, role: "user", content });

const modes = {
  async chat() {
    const agent = agentOf("hello", [user("m-1", "What is 17% of 2349.50?")]);
    const { types, result } = await run(agent);
    assert.match(result.result.response, /399\.415/);
    for (const type of ["RUN_STARTED", "STATE_SNAPSHOT", "STATE_DELTA", "ACTIVITY_SNAPSHOT", "STEP_STARTED", "TOOL_CALL_START", "TOOL_CALL_RESULT", "REASONING_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "RUN_FINISHED"]) {
      assert.ok(types.includes(type), `no ${type}`);
    }
    assert.equal(agent.state.steps[0].status, "ok");
    assert.ok(agent.state.usage.input_tokens > 0);
    assert.equal(agent.messages.at(-1).content, "17% of 2349.50 is 399.415.");
    await run(agentOf("hello", [...agent.messages, user("m-2", "What is 17% of 2349.50?")], agent.threadId)); // the next turn of the thread
    await fails(agentOf("nobody", [user("m", "Hi.")]), {}, /HTTP 404.*no agent/);
    await fails(agentOf("hello", [user("m", "Hi.")]), { tools: [{ name: "alert", description: "", parameters: {} }] }, /HTTP 400.*not supported/);
    await fails(agentOf("hello", [user("m", [{ type: "image", source: { type: "url", value: "https://example.com/a.png" } }])]), {}, /HTTP 400.*image/);
    console.log(`${types.length} events`);
  },

  // ask stops at an approval, and prints what answer and watch need.
  async ask() {
    const agent = agentOf("refund-desk", [user("m-1", question)]);
    await run(agent);
    assert.equal(agent.pendingInterrupts.length, 1);
    await assert.rejects(run(agent), /pending interrupt/);
    console.log(JSON.stringify({ threadId: agent.threadId, messages: agent.messages, state: agent.state, interrupts: agent.pendingInterrupts }));
  },

  // answer continues the run, twice: the second answer is the same.
  async answer() {
    const was = JSON.parse(saved);
    const [interrupt] = was.interrupts;
    assert.equal(interrupt.reason, "approval");
    assert.deepEqual(interrupt.responseSchema.required, ["approved"]);
    const resume = [{ interruptId: interrupt.id, status: "resolved", payload: { approved: false, reason: "not without a photo" } }];
    for (let i = 0; i < 2; i++) {
      const agent = agentOf("refund-desk", was.messages, was.threadId);
      agent.state = was.state;
      const { result, types } = await run(agent, { resume });
      assert.match(result.result.response, /A colleague has taken over/);
      assert.ok(types.includes("TOOL_CALL_RESULT"));
      assert.equal(agent.state.steps[2].status, "ok");
    }
  },

  // watch continues a run whose question was answered by another protocol.
  async watch() {
    const was = JSON.parse(saved);
    const agent = agentOf("refund-desk", was.messages, was.threadId);
    const { result } = await run(agent, { resume: [{ interruptId: was.interrupts[0].id, status: "resolved", payload: { approved: true } }] });
    assert.match(result.result.response, /87\.93 EUR/);
  },
};

await modes[mode]();
