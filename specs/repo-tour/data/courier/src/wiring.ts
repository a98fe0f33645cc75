import type { Channel } from "./channels/channel.ts";
import { EmailChannel } from "./channels/email.ts";
import { WebhookChannel } from "./channels/webhook.ts";
import type { Config } from "./config.ts";

// buildChannels is the only place that knows every channel.
export function buildChannels(config: Config): Map<string, Channel> {
  const all: Channel[] = [
    new EmailChannel(config.smtpUrl, config.emailsPerHour),
    new WebhookChannel(config.webhookTimeoutMs),
  ];
  return new Map(all.map((channel) => [channel.name, channel]));
}
