// Drives agents with the A2A SDK, in version 1.0 or 0.3 of the protocol.
// run.mjs URL VERSION BINDING MODE [TASK]: 1.0 | 0.3, jsonrpc | rest, tasks | ask | answer | done.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as v1 from "@a2a-js/sdk/client";
import { Role, TaskState } from "@a2a-js/sdk";
import * as v03 from "a2a-sdk-0.3/client";

const [url, version, binding, mode, id] = process.argv.slice(2);
const question =
  "Nora Lindqvist writes on 2026-11-16: The kettle of my last order has a broken spout and two of the four cups came in pieces. " +
  "I paid for express, and it was late. I want my money back, no replacements.";

// Each version has its own types. These functions hide them: a task is {id, contextId, state, answer, asks}.
const is1 = version === "1.0";
const states = Object.fromEntries(Object.entries(TaskState).map(([name, n]) => [n, name.replace("TASK_STATE_", "").toLowerCase().replace("_", "-")]));

function message(text, to = {}) {
  const parts = is1 ? [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }] : [{ kind: "text", text }];
  const base = { messageId: randomUUID(), parts, ...to };
  return is1
    ? { tenant: "", configuration: undefined, metadata: undefined, message: { role: Role.ROLE_USER, contextId: "", taskId: "", extensions: [], referenceTaskIds: [], metadata: undefined, ...base } }
    : { message: { kind: "message", role: "user", ...base } };
}

const textOf = (parts) => (parts ?? []).map((p) => (is1 ? p.content?.$case === "text" && p.content.value : p.text) || "").join("");
const stateOf = (status) => (is1 ? states[status.state] : status.state).replace("cancelled", "canceled");

function task(t) {
  if (is1 && t.payload) {
    t = t.payload.value;
  }
  const data = t.status.message?.parts.map((p) => (is1 ? p.content?.$case === "data" && p.content.value : p.data)).filter(Boolean) ?? [];
  return { id: t.id, contextId: t.contextId, state: stateOf(t.status), answer: textOf(t.artifacts?.[0]?.parts), asks: data };
}

async function connect(agent) {
  const transports = is1 ? v1 : v03;
  const factory = new transports.ClientFactory({
    ...transports.ClientFactoryOptions?.default,
    transports: [binding === "rest" ? new transports.RestTransportFactory() : new transports.JsonRpcTransportFactory()],
  });
  return factory.createFromUrl(url, `/a2a/${agent}/.well-known/agent-card.json`);
}

// stream returns the states and texts of a stream, and the task.
async function stream(events) {
  const out = { states: [], progress: "", answer: "" };
  for await (const e of events) {
    const kind = is1 ? e.payload.$case : e.kind;
    const value = is1 ? e.payload.value : e;
    if (kind === "task") {
      out.id = value.id;
      out.contextId = value.contextId;
    }
    if (value.status) {
      out.states.push(stateOf(value.status));
      out.progress += textOf(value.status.message?.parts);
    }
    if (value.artifact) {
      out.answer += textOf(value.artifact.parts);
    }
  }
  return out;
}

const modes = {
  async tasks() {
    const client = await connect("hello");
    const first = task(await client.sendMessage(message("What is 17% of 2349.50?")));
    assert.equal(first.state, "completed");
    assert.equal(first.answer, "17% of 2349.50 is 399.415.");
    assert.deepEqual(task(await client.getTask({ id: first.id, tenant: "" })), first);
    const events = await stream(client.sendMessageStream(message("What is 17% of 2349.50?", { contextId: first.contextId })));
    assert.equal(events.states.at(-1), "completed");
    assert.match(events.progress, /Plan: 1 step/);
    assert.match(events.answer, /399\.415/);
    assert.equal(events.contextId, first.contextId);
    await assert.rejects(client.getTask({ id: "nothing", tenant: "" }));
    await assert.rejects(client.cancelTask({ id: first.id, tenant: "" }));
    await assert.rejects(client.sendMessage(message("More.", { taskId: first.id })));
    if (is1) {
      const list = await client.listTasks({ tenant: "", contextId: first.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 10, pageToken: "" });
      assert.equal(list.tasks.length, 2);
    }
  },

  // ask stops at an approval, and prints the id of the task.
  async ask() {
    const client = await connect("refund-desk");
    const events = await stream(client.sendMessageStream(message(question)));
    assert.equal(events.states.at(-1), "input-required");
    const t = task(await client.getTask({ id: events.id, tenant: "" }));
    assert.equal(t.state, "input-required");
    assert.equal(t.asks[0].tool, "refund");
    console.log(events.id);
  },

  // answer denies; the task goes on to its end, and then another one is cancelled.
  async answer() {
    const client = await connect("refund-desk");
    await assert.rejects(client.sendMessage(message("Perhaps.", { taskId: id })));
    const events = await stream(client.sendMessageStream(message("deny: not without a photo", { taskId: id })));
    assert.equal(events.states.at(-1), "completed");
    assert.match(events.answer, /A colleague has taken over/);
    const other = task(await client.sendMessage(message(question)));
    assert.equal(task(await client.cancelTask({ id: other.id, tenant: "" })).state, "canceled");
    await assert.rejects(client.sendMessage(message("approve", { taskId: other.id })));
  },

  // done gets a task that was approved by another protocol.
  async done() {
    const client = await connect("refund-desk");
    for (;;) {
      const t = task(await client.getTask({ id, tenant: "" }));
      if (t.state === "completed") {
        assert.match(t.answer, /87\.93 EUR/);
        return;
      }
      assert.match(t.state, /working|input-required/);
      await new Promise((wake) => setTimeout(wake, 20));
    }
  },
};

await modes[mode]();
