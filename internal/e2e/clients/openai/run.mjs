// Drives agents with the client library of OpenAI.
// run.mjs URL MODE [STATE]: chat | background | approvals | ask | answer | watch, with the state of ask.
import assert from "node:assert/strict";
import OpenAI from "openai";

const [url, mode, saved] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: "none", maxRetries: 0 });
const sum = "What is 17% of 2349.50?";
const complaint =
  "Nora Lindqvist writes on 2026-11-16: The kettle of my last order has a broken spout and two of the four cups came in pieces. " +
  "I paid for express, and it was late. I want my money back, no replacements.";

const user = (content) => ({ role: "user", content });
const fails = (promise, type, want) =>
  assert.rejects(promise, (e) => {
    assert.ok(e instanceof type, e);
    for (const [name, value] of Object.entries(want)) assert.equal(e[name], value);
    return true;
  });

// collect returns the events of a stream, at most a number of them: then it cuts the connection.
async function collect(stream, most = Infinity) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length === most) break; // the library aborts the request
  }
  return events;
}

const modes = {
  async chat() {
    const models = await client.models.list();
    assert.deepEqual(models.data.map((m) => m.id), ["hello", "refund-desk", "pex-task"]);
    assert.equal((await client.models.retrieve("hello")).owned_by, "pex");

    const once = await client.chat.completions.create({ model: "hello", messages: [user(sum)] });
    assert.equal(once.choices[0].message.content, "17% of 2349.50 is 399.415.");
    assert.equal(once.choices[0].finish_reason, "stop");
    assert.ok(once.usage.total_tokens > 0);

    const runner = client.chat.completions.stream({ model: "hello", messages: [user(sum)], stream_options: { include_usage: true } });
    const chunks = await collect(runner);
    assert.ok(chunks.some((c) => c.choices[0]?.delta.reasoning_content?.includes("calculator")), "no progress");
    assert.equal(await runner.finalContent(), "17% of 2349.50 is 399.415.");
    assert.equal((await runner.totalUsage()).total_tokens, once.usage.total_tokens);

    const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
    await fails(client.chat.completions.create({ model: "hello", messages: [user(sum)], tools }), OpenAI.BadRequestError, { code: "unsupported_parameter", param: "tools" });
    await fails(client.chat.completions.create({ model: "nobody", messages: [user(sum)] }), OpenAI.NotFoundError, { code: "model_not_found", param: "model" });
    const image = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
    await fails(client.chat.completions.create({ model: "hello", messages: [user(image)] }), OpenAI.BadRequestError, { param: "messages[0].content[0].type" });
    const large = client.chat.completions.create({ model: "hello", messages: [user("x".repeat(3 << 20))] });
    await fails(large, OpenAI.APIError, { status: 413, code: "too_large" });

    // a question is a message, and the next message its answer
    const headers = { "X-Conversation-Id": "chat-1" };
    const turn = async (messages) => (await client.chat.completions.create({ model: "refund-desk", messages }, { headers })).choices[0].message.content;
    const asked = await turn([user(complaint)]);
    assert.match(asked, /May step s3 call refund\?[^]*87\.93[^]*Reply with approve/);
    const before = [user(complaint), { role: "assistant", content: asked }];
    assert.match(await turn([...before, user("go ahead")]), /^"go ahead" is not an answer/);
    assert.match(await turn([...before, user("deny: not without a photo")]), /A colleague has taken over/);
  },

  // background cuts the connection of a response at each event, and continues behind it.
  async background() {
    const full = await collect(await client.responses.create({ model: "hello", input: sum, background: true, stream: true }));
    const types = full.map((e) => e.type);
    for (const type of ["response.created", "response.reasoning_summary_text.done", "response.mcp_call.completed", "response.output_text.delta", "response.completed"]) {
      assert.ok(types.includes(type), `no ${type}`);
    }
    const { id } = full[0].response;
    for (let n = 1; n < full.length; n++) {
      const rest = await collect(await client.responses.retrieve(id, { stream: true, starting_after: full[n - 1].sequence_number }));
      assert.deepEqual(rest, full.slice(n));
    }
    const [cut] = await collect(await client.responses.create({ model: "hello", input: sum, background: true, stream: true }), 1);
    const rest = await collect(await client.responses.retrieve(cut.response.id, { stream: true, starting_after: cut.sequence_number }));
    assert.deepEqual(rest.map((e) => e.type), types.slice(1));

    let polled = await client.responses.create({ model: "hello", input: sum, background: true });
    while (["queued", "in_progress"].includes(polled.status)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      polled = await client.responses.retrieve(polled.id);
    }
    assert.equal(polled.status, "completed");
    assert.equal(polled.output_text, "17% of 2349.50 is 399.415.");
    const next = await client.responses.create({ model: "hello", input: sum, previous_response_id: polled.id });
    const input = await collect(client.responses.inputItems.list(next.id, { order: "asc" }));
    assert.deepEqual(input.map((i) => i.role), ["user", "assistant", "user"]);
    assert.equal(input[1].content[0].text, polled.output_text);
    await client.responses.delete(polled.id);
    await fails(client.responses.retrieve(polled.id), OpenAI.NotFoundError, { code: "not_found" });

    const waits = await client.responses.create({ model: "refund-desk", input: complaint });
    assert.equal((await client.responses.cancel(waits.id)).status, "cancelled");
  },

  // ask stops at an approval, and prints what answer and watch need.
  async ask() {
    const response = await client.responses.create({ model: "refund-desk", input: complaint, background: true, stream: true });
    const events = await collect(response);
    const last = events.at(-1);
    assert.equal(last.type, "response.completed");
    const request = last.response.output.at(-1);
    assert.equal(request.type, "mcp_approval_request");
    assert.equal(JSON.parse(request.arguments).amount, 87.93);
    console.log(JSON.stringify({ id: last.response.id, request: request.id, seen: last.sequence_number, run: last.response.pex.run_id, path: last.response.pex.interrupts[0].path }));
  },

  async answer() {
    const { id, request } = JSON.parse(saved);
    const decide = { model: "refund-desk", previous_response_id: id, input: [{ type: "mcp_approval_response", approval_request_id: request, approve: true }] };
    for (let i = 0; i < 2; i++) { // a repeated approval is the same
      const response = await client.responses.create(decide);
      assert.equal(response.status, "completed");
      assert.equal(response.previous_response_id, id);
      assert.match(response.output_text, /87\.93 EUR/);
      assert.equal(response.output.find((o) => o.type === "mcp_call").name, "refund");
    }
    decide.input[0].approve = false;
    await fails(client.responses.create(decide), OpenAI.ConflictError, { code: "already_decided" });
  },

  // watch sees the end of a run whose question was answered by another protocol.
  async watch() {
    const { id, seen } = JSON.parse(saved);
    const events = await collect(await client.responses.retrieve(id, { stream: true, starting_after: seen }));
    assert.equal(events.at(-1).type, "response.completed");
    assert.match((await client.responses.retrieve(id)).output_text, /87\.93 EUR/);
  },
};

await modes[mode]();
