// A receiver of webhooks: node receiver.cjs LIBRARY HOST:PORT FILE. It appends a line to FILE for each message.
const fs = require("node:fs");
const http = require("node:http");
const [library, address, file] = process.argv.slice(2);
const webhook = new (require(library).Webhook)(process.env.WEBHOOK_SECRET);

const server = http.createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    if (request.method !== "POST") {
      response.writeHead(200).end();
      return;
    }
    try {
      const message = webhook.verify(Buffer.concat(parts), request.headers);
      fs.appendFileSync(file, `${message.type} ${message.data.run_id}\n`);
      response.writeHead(204).end();
    } catch (error) {
      fs.appendFileSync(file, `invalid: ${error.message}\n`);
      response.writeHead(401).end();
    }
  });
});
const [host, port] = address.split(":");
server.listen(Number(port), host);
