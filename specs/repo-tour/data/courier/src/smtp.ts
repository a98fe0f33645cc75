import { connect } from "node:net";

// deliver speaks just enough SMTP for a relay on the same host.
export async function deliver(url: string, to: string, subject: string, body: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port || 25), hostname);
  const lines = [
    "HELO courier", "MAIL FROM:<courier@example.com>", `RCPT TO:<${to}>`, "DATA",
    `Subject: ${subject}\r\n\r\n${body}\r\n.`, "QUIT",
  ];
  socket.setEncoding("utf8");
  for await (const answer of socket) {
    if (!/^[23]/.test(answer)) throw new Error(`smtp: ${answer.trim()}`);
    const next = lines.shift();
    if (next === undefined) return;
    socket.write(`${next}\r\n`);
  }
}
