import { readFile } from "node:fs/promises";

const KNOWN = ["email", "webhook"];
const FALLBACK = ["email"];

// preferencesOf gives the channels a user chose, in their order. Names that are
// not KNOWN come from old app versions and are dropped.
export async function preferencesOf(user: string): Promise<string[]> {
  const stored = JSON.parse(await readFile("preferences.json", "utf8")) as Record<string, string[]>;
  const chosen = (stored[user] ?? []).filter((name) => KNOWN.includes(name));
  return chosen.length > 0 ? chosen : FALLBACK;
}
