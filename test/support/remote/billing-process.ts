import { fork } from "node:child_process";
import { once } from "node:events";
import { childProgram } from "../child-program.ts";

/** How the process responds from now on. */
export interface ToBilling {
  readonly mood: "answers" | "fails" | "hangs";
}

/** Its address, or the requests since the last report. */
export type FromBilling = { readonly baseUrl: string } | { readonly targets: string[] };

/** Another process with an app whose records are joined. */
export interface BillingProcess {
  readonly baseUrl: string;
  /** Changes how it responds. */
  setMood(mood: ToBilling["mood"]): Promise<void>;
  /** The ids of each request since the last change or report. */
  asked(): Promise<string[][]>;
  /** Path and query of these requests. */
  targets(): Promise<string[]>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Starts it and waits until it listens. */
export async function startBilling(): Promise<BillingProcess> {
  const child = fork(await childProgram(new URL("billing.child.ts", import.meta.url)), { execArgv: [] });
  const ended = once(child, "exit");
  const hear = async (): Promise<FromBilling> => {
    const gone = ended.then(([code]): never => {
      throw new TypeError(`The process has ended with ${code}`);
    });
    const [message] = (await Promise.race([once(child, "message"), gone])) as [FromBilling];
    return message;
  };
  const first = await hear();
  const baseUrl = "baseUrl" in first ? first.baseUrl : "";
  let mood: ToBilling["mood"] = "answers";

  async function tell(): Promise<string[]> {
    const heard = hear();
    child.send({ mood } satisfies ToBilling);
    const message = await heard;
    return "targets" in message ? message.targets : [];
  }
  return {
    baseUrl,
    async setMood(next) {
      mood = next;
      await tell();
    },
    asked: async () => (await tell()).map((target) => new URL(target, baseUrl).searchParams.getAll("id")),
    targets: tell,
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}
