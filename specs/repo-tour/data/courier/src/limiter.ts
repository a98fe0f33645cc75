// Limiter lets each key through a number of times an hour.
export class Limiter {
  private readonly perHour: number;
  private readonly seen = new Map<string, number[]>();

  constructor(perHour: number) {
    this.perHour = perHour;
  }

  allow(key: string, now = Date.now()): boolean {
    const recent = (this.seen.get(key) ?? []).filter((at) => now - at < 3_600_000);
    if (recent.length >= this.perHour) {
      this.seen.set(key, recent);
      return false;
    }
    this.seen.set(key, [...recent, now]);
    return true;
  }
}
