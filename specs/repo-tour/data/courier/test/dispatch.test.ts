import assert from "node:assert/strict";
import { test } from "node:test";
import type { Channel } from "../src/channels/channel.ts";
import { dispatch } from "../src/dispatch.ts";

const notification = { user: "nobody", subject: "hi", body: "there" };

function fake(name: string, send: () => Promise<void>): [string, Channel] {
  return [name, { name, send }];
}

test("someone without preferences gets an email", async () => {
  const channels = new Map([fake("email", async () => {})]);
  assert.deepEqual(await dispatch(notification, channels), { sent: ["email"], failed: [] });
});

test("a channel that throws is reported", async () => {
  const channels = new Map([fake("email", async () => { throw new Error("down"); })]);
  assert.deepEqual(await dispatch(notification, channels), { sent: [], failed: ["email"] });
});
