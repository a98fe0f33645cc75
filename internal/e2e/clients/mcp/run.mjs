// Drives the agents of a server as MCP tools, with the protocol's own client, inspector and
// conformance suite. run.mjs MODE ARGS...: inspector, conformance, elicit, elsewhere or limits.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const packages = join(import.meta.dirname, "node_modules");
const node = join(packages, "node", "bin", "node"); // the tools need 22
const scoped = (...parts) => join(packages, "@modelcontextprotocol", ...parts);

async function connect(url, mode, elicit) {
  const client = new Client({ name: "e2e", version: "1" }, { capabilities: elicit ? { elicitation: {} } : {}, versionNegotiation: { mode } });
  if (elicit) {
    client.setRequestHandler("elicitation/create", elicit);
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return client;
}

const modes = {
  // inspector runs a command of the inspector, and prints what it does.
  inspector(...args) {
    process.stdout.write(execFileSync(node, [scoped("inspector", "clients", "launcher", "build", "index.js"), "--cli", ...args], { stdio: ["ignore", "pipe", "inherit"] }));
  },

  // conformance prints the checks that fail, except those of extensions.
  conformance(url, revision) {
    const dir = mkdtempSync(join(tmpdir(), "conformance-"));
    const run = spawnSync(node, [scoped("conformance", "dist", "index.js"), "server", "--url", `${url}/mcp`, "--requirements", revision, "-o", dir], { encoding: "utf8" });
    let passed = 0;
    const failed = [];
    for (const scenario of readdirSync(dir)) {
      for (const check of JSON.parse(readFileSync(join(dir, scenario, "checks.json"), "utf8"))) {
        passed += check.status === "SUCCESS" ? 1 : 0;
        if (check.status === "FAILURE" && !scenario.startsWith("server-tasks-")) {
          failed.push(check.id);
        }
      }
    }
    rmSync(dir, { recursive: true });
    assert.ok(passed > 0, run.stdout + run.stderr);
    console.log([...new Set(failed)].sort().join("\n"));
    console.error(`${passed} checks passed`);
  },

  // elicit has the user approve a call; progress arrives meanwhile.
  async elicit(url, version) {
    const asked = [];
    const client = await connect(url, version === "2026-07-28" ? { pin: version } : "legacy", (request) => {
      asked.push(request.params.message);
      return { action: "accept", content: { decision: "approve" } };
    });
    const lines = [];
    const result = await client.callTool({ name: "refund-desk", arguments: {} }, { onprogress: (p) => lines.push(p.message) });
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    assert.equal(asked.length, 1);
    assert.match(asked[0], /refund/);
    assert.equal(result._meta["pexctl.dev/status"], "completed", JSON.stringify(result));
    assert.ok(lines.length > 5, lines.join("\n"));
    const { tools } = await client.listTools();
    const hints = Object.fromEntries(tools.map((t) => [t.name, t.annotations.readOnlyHint]));
    assert.equal(hints["refund-desk"], false);
    assert.equal(hints.hello, true);
    await client.close();
  },

  // elsewhere has an approval given by the API while the user of the client sees the form.
  async elsewhere(url) {
    const client = await connect(url, "legacy", async (request) => {
      const { questions } = await (await fetch(`${url}/v1/questions?agent=refund-desk`)).json();
      const mine = questions.filter((q) => request.params.message.startsWith(q.question)).at(-1);
      const body = JSON.stringify({ path: mine.path, do: "approve" });
      assert.equal((await fetch(`${url}/v1/runs/${mine.run_id}/answers`, { method: "POST", headers: { "Content-Type": "application/json" }, body })).status, 200);
      return new Promise(() => {}); // the user does nothing
    });
    const result = await client.callTool({ name: "refund-desk", arguments: {} });
    assert.equal(result._meta["pexctl.dev/status"], "completed", JSON.stringify(result));
    await client.close();
  },

  // limits calls what must fail. Nothing is started.
  async limits(url) {
    const client = await connect(url, { pin: "2026-07-28" });
    await assert.rejects(client.callTool({ name: "nobody", arguments: {} }), /no agent/);
    const wrong = await client.callTool({ name: "hello", arguments: { question: 7 } });
    assert.equal(wrong.isError, true);
    const unknown = await client.callTool({ name: "run_get", arguments: { run: "r-0" } });
    assert.match(unknown.content[0].text, /no run/);
    await client.close();
  },
};

const [mode, ...args] = process.argv.slice(2);
await modes[mode](...args);
