import { Limiter } from "../limiter.ts";
import { deliver } from "../smtp.ts";
import type { Channel, Notification } from "./channel.ts";

export class EmailChannel implements Channel {
  readonly name = "email";
  private readonly smtpUrl: string;
  private readonly limiter: Limiter;

  constructor(smtpUrl: string, perHour: number) {
    this.smtpUrl = smtpUrl;
    this.limiter = new Limiter(perHour);
  }

  async send(notification: Notification): Promise<void> {
    if (!this.limiter.allow(notification.user)) {
      throw new Error(`too many emails to ${notification.user} in an hour`);
    }
    await deliver(this.smtpUrl, `${notification.user}@example.com`, notification.subject, notification.body);
  }
}
