import type { Channel, Notification } from "./channels/channel.ts";
import { preferencesOf } from "./preferences.ts";

export interface Outcome {
  sent: string[];
  failed: string[];
}

// dispatch tries every channel the user chose; one that fails does not stop the others.
export async function dispatch(notification: Notification, channels: Map<string, Channel>): Promise<Outcome> {
  const outcome: Outcome = { sent: [], failed: [] };
  for (const name of await preferencesOf(notification.user)) {
    const channel = channels.get(name);
    if (!channel) continue;
    try {
      await channel.send(notification);
      outcome.sent.push(name);
    } catch {
      outcome.failed.push(name);
    }
  }
  return outcome;
}
