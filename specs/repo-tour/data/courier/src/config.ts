export interface Config {
  port: number;
  smtpUrl: string;
  webhookTimeoutMs: number;
  emailsPerHour: number;
}

export function readConfig(env: Record<string, string | undefined>): Config {
  return {
    port: Number(env.PORT ?? 8080),
    smtpUrl: env.SMTP_URL ?? "smtp://localhost:1025",
    webhookTimeoutMs: Number(env.WEBHOOK_TIMEOUT_MS ?? 5000),
    emailsPerHour: Number(env.EMAILS_PER_HOUR ?? 20),
  };
}
