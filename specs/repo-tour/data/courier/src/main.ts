import { createServer } from "node:http";
import { readConfig } from "./config.ts";
import { dispatch } from "./dispatch.ts";
import { buildChannels } from "./wiring.ts";

const config = readConfig(process.env);
const channels = buildChannels(config);

createServer(async (request, response) => {
  if (request.method !== "POST" || request.url !== "/notify") {
    response.writeHead(404).end();
    return;
  }
  let body = "";
  for await (const chunk of request) body += chunk;
  const outcome = await dispatch(JSON.parse(body), channels);
  response.writeHead(outcome.failed.length > 0 ? 502 : 202, { "content-type": "application/json" });
  response.end(JSON.stringify(outcome));
}).listen(config.port);
