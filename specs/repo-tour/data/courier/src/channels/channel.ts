export interface Notification {
  user: string;
  subject: string;
  body: string;
}

// Channel delivers a notification or throws. Its name is what preferences hold.
export interface Channel {
  readonly name: string;
  send(notification: Notification): Promise<void>;
}
