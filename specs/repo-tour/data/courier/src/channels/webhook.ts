import type { Channel, Notification } from "./channel.ts";

export class WebhookChannel implements Channel {
  readonly name = "webhook";
  private readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  async send(notification: Notification): Promise<void> {
    const answer = await fetch(`https://hooks.example.com/${notification.user}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(notification),
      signal: AbortSignal.timeout(this.timeoutMs),
    });
    if (!answer.ok) throw new Error(`webhook answered ${answer.status}`);
  }
}
