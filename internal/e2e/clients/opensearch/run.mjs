// Usage: run.mjs MODE SERVER [ARG]
//   tutorial MODEL_SERVER   the requests of the tutorial, from the connector to the traces
//   agent ID                executes an agent that was registered before a restart
//   ask                     starts a run that asks; prints its task
//   end TASK                waits for the end of a task
//   latency AGENT           prints the median time of requests to this API and to /v1, in ms
import assert from "node:assert/strict";
import { Client } from "@opensearch-project/opensearch";

const [mode, server, arg] = process.argv.slice(2);
const client = new Client({ node: server });

async function ml(method, path, body, querystring) {
  const { body: reply } = await client.transport.request({ method, path: "/_plugins/_ml" + path, body, querystring });
  return reply;
}

async function fails(status, promise) {
  try {
    await promise;
  } catch (e) {
    assert.equal(e.statusCode, status, JSON.stringify(e.body));
    return e.body;
  }
  assert.fail(`no error ${status}`);
}

async function ended(task) {
  for (let i = 0; ; i++) {
    const t = await ml("GET", `/tasks/${task}`);
    if (t.state !== "RUNNING" && t.state !== "CREATED") return t;
    assert.ok(i < 600, "the task does not end");
    await new Promise((r) => setTimeout(r, 50));
  }
}

const outputs = (reply) => Object.fromEntries(reply.inference_results[0].output.map((o) => [o.name, o.result ?? o.dataAsMap]));

const connector = (url, key) => ({
  name: "My connector", description: "my test connector", version: 1, protocol: "http",
  parameters: { model: "gpt-4o" },
  credential: { openAI_key: key },
  actions: [{
    action_type: "predict", method: "POST", url: `${url}/chat/completions`,
    headers: { Authorization: "Bearer ${credential.openAI_key}" },
    request_body: '{ "model": "${parameters.model}", "messages": [{"role":"user","content":"${parameters.prompt}"}] }',
  }],
});

async function tutorial(model) {
  const refused = await fails(400, ml("POST", "/connectors/_create", connector(model, "my-own-key")));
  assert.match(refused.error.details, /OPENAI_KEY/);
  await fails(501, ml("POST", "/model_groups/_register", { name: "group" }));

  // The RFC registers the model with the connector in it; the tutorial registers the connector before.
  const inline = await ml("POST", "/models/_register", { name: "My model", function_name: "remote", description: "test model", connector: connector(model, "<KEY>") });
  assert.ok(inline.model_id);
  const { connector_id } = await ml("POST", "/connectors/_create", connector(model, "<KEY>"));
  const { model_id, task_id } = await ml("POST", "/models/_register", { name: "My model", function_name: "remote", connector_id }, { deploy: "true" });
  assert.equal((await ml("GET", `/tasks/${task_id}`)).model_id, model_id);
  assert.equal((await ml("POST", `/models/${model_id}/_deploy`)).status, "COMPLETED");

  const { agent_id } = await ml("POST", "/agents/_register", {
    name: "My Chat Agent", type: "plan_execute_and_reflect", description: "this is a test agent",
    llm: { model_id, parameters: { prompt: "${parameters.question}" } },
    memory: { type: "conversation_index" },
    parameters: { _llm_interface: "openai/v1/chat/completions" },
    tools: [{ type: "ListIndexTool" }, { type: "SearchIndexTool" }, { type: "IndexMappingTool" }],
    app_type: "os_chat",
  });
  const question = "Give me statistics about my cluster";
  const sync = outputs(await ml("POST", `/agents/${agent_id}/_execute`, { parameters: { question } }));
  assert.equal(sync.response.response, "The cluster has 17 docs.");

  const started = await ml("POST", `/agents/${agent_id}/_execute`, { parameters: { question } }, { async: "true" });
  assert.equal(started.status, "RUNNING");
  const task = await ended(started.task_id);
  assert.equal(task.state, "COMPLETED");
  assert.equal(outputs(task.response).response.response, "The cluster has 17 docs.");
  assert.ok(task.response.executor_agent_memory_id);

  const { messages } = await ml("GET", `/memory/${task.response.memory_id}/messages`);
  assert.equal(messages[0].message_id, started.response.parent_interaction_id);
  assert.equal(messages[0].response, "The cluster has 17 docs.");
  const steps = await ml("GET", `/memory/${task.response.executor_agent_memory_id}/messages`);
  assert.equal(steps.messages[0].input, "Count the docs");
  const { traces } = await ml("GET", `/memory/message/${task.response.parent_interaction_id}/traces`);
  assert.deepEqual(traces.map((t) => [t.trace_number, t.input, t.response]), [[1, "Count the docs", "There are 17 docs."]]);

  const again = outputs(await ml("POST", `/agents/${agent_id}/_execute`, { parameters: { question: "And now?", memory_id: task.response.memory_id } }));
  assert.equal(again.memory_id, task.response.memory_id);

  // The client's own functions for the API.
  const found = await client.ml.searchModels({ body: { query: { match_all: {} } } });
  assert.ok(found.body.hits.hits.some((h) => h._id === model_id));
  assert.equal((await client.ml.getTask({ task_id: started.task_id })).body.state, "COMPLETED");
  console.log(agent_id);
}

async function agent(id) {
  const reply = outputs(await ml("POST", `/agents/${id}/_execute`, { parameters: { question: "Still there?" } }));
  assert.equal(reply.response.response, "The cluster has 17 docs.");
}

async function ask() {
  const { task_id } = await ml("POST", "/agents/refund-desk/_execute", { parameters: {} }, { async: "true" });
  for (;;) {
    const t = await ml("GET", `/tasks/${task_id}`);
    assert.equal(t.state, "RUNNING", JSON.stringify(t));
    if (t.response.interrupts) {
      console.log(JSON.stringify({ task: task_id, path: t.response.interrupts[0].path }));
      return;
    }
    await new Promise((r) => setTimeout(r, 50));
  }
}

async function end(task) {
  const t = await ended(task);
  assert.equal(t.state, "COMPLETED", JSON.stringify(t));
}

async function latency(id) {
  const body = JSON.stringify({ parameters: { question: "What is 17% of 2349.50?" } });
  const own = JSON.stringify({ question: "What is 17% of 2349.50?" });
  const time = async (path, body, headers) => {
    const began = performance.now();
    const res = await fetch(server + path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
    await res.text();
    assert.equal(res.status, 200);
    return performance.now() - began;
  };
  const all = { ml: [], v1: [] };
  for (let i = 0; i < 220; i++) {
    const ml = await time(`/_plugins/_ml/agents/${id}/_execute`, body, {});
    const v1 = await time(`/v1/agents/${id}/runs`, own, { prefer: "wait=30" });
    if (i >= 20) all.ml.push(ml), all.v1.push(v1);
  }
  const median = (l) => l.sort((a, b) => a - b)[l.length >> 1];
  console.log(JSON.stringify({ ml: median(all.ml), v1: median(all.v1) }));
}

await { tutorial, agent, ask, end, latency }[mode](arg);
