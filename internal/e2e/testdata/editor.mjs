// An editor: it speaks to a language server by the protocol library of VS Code,
// opens files, waits for their diagnostics, and prints what it was told as JSON.
//
//   node editor.mjs MODULES SCHEMA|- FILE[:line:character]... -- SERVER ARGUMENTS...
//
// Where a file has a place, completion is asked for there.
import { createRequire } from 'node:module';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [modules, schema, ...rest] = process.argv.slice(2);
const lsp = createRequire(modules + '/x.js')('vscode-languageserver-protocol/node');
const cut = rest.indexOf('--');
const files = rest.slice(0, cut);
const server = spawn(rest[cut + 1], rest.slice(cut + 2), { stdio: ['pipe', 'pipe', 'inherit'] });
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));
const settings = { validate: true, schemas: schema === '-' ? {} : { [schema]: ['*.yaml'] }, schemaStore: { enable: false }, keepAlive: false };

const waiting = new Map();
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => waiting.get(p.uri)?.(p.diagnostics));
connection.onRequest(lsp.ConfigurationRequest.type, (p) => p.items.map((i) => (i.section === 'yaml' ? settings : null)));
connection.onRequest(lsp.RegistrationRequest.type, () => {});
connection.listen();

const capabilities = { workspace: { configuration: true }, textDocument: { publishDiagnostics: { versionSupport: true } } };
await connection.sendRequest(lsp.InitializeRequest.type, { processId: process.pid, rootUri: null, workspaceFolders: null, capabilities });
await connection.sendNotification(lsp.InitializedNotification.type, {});
await connection.sendNotification(lsp.DidChangeConfigurationNotification.type, { settings: { yaml: settings } });

const answers = {};
for (const written of files) {
  const [file, line, character] = written.split(':');
  const uri = pathToFileURL(file).href;
  const told = new Promise((resolve) => waiting.set(uri, resolve));
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'yaml', version: 1, text: readFileSync(file, 'utf8') },
  });
  const answer = { diagnostics: (await told).map((d) => d.message) };
  if (line !== undefined) {
    const r = await connection.sendRequest(lsp.CompletionRequest.type, { textDocument: { uri }, position: { line: Number(line), character: Number(character) } });
    answer.completion = (r?.items ?? r ?? []).map((i) => i.label);
  }
  answers[file] = answer;
}
console.log(JSON.stringify(answers));
await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);
server.on('exit', (code) => process.exit(code ?? 0));
