import type { Logger } from "../../kernel/index.ts";

/** A message to a user. */
export interface Mail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mail, such as a transport of nodemailer. */
export interface MailTransport {
  sendMail(mail: Mail): Promise<unknown>;
}

/** The mail options of accounts. */
export interface MailOptions {
  readonly transport: MailTransport;
  /** Address of the sender, such as `Shop <no-reply@shop.example>`. */
  readonly from: string;
}

/** Writes mail to the log. Used in development without a transport. */
export function logMail(log: Logger): MailOptions {
  return {
    from: "accounts",
    transport: {
      async sendMail({ to, subject, text }) {
        log.info(`Mail to ${to}: ${subject}\n${text}`);
      },
    },
  };
}
