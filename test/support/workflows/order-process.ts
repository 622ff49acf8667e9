import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { JournalOptions } from "../../../src/plugins/workflows/index.ts";
import { childProgram } from "../child-program.ts";

/** The options of a process. */
export interface ChildOptions extends Pick<JournalOptions, "leaseMs" | "recoveryMs" | "concurrency" | "maxRecoveries"> {
  /** A file, or a connection string. */
  readonly database: string;
  readonly engine: "journal" | "dbos";
  /** Milliseconds that its clock is ahead of the others, so that the leases of dead processes have expired. */
  readonly aheadMs: number;
  readonly push: "auto" | "off";
  /** Freezes at its n-th point, in any run. */
  readonly points?: number | undefined;
}

/** A run to start, and where it stops, such as "execute charge: inside". */
export interface RunOrder {
  readonly runId: string;
  readonly fail?: string | undefined;
  readonly at?: string | undefined;
}

export type ToChild =
  | { readonly runs: readonly RunOrder[] }
  | { readonly goOn: string }
  | { readonly settle: true }
  | { readonly close: true };

export interface FromChild {
  readonly ready?: true;
  readonly at?: string;
  readonly ended?: string;
  readonly status?: string;
  readonly settled?: true;
  readonly frozen?: true;
}

/** A process of the order app, as its parent sees it. */
export interface OrderProcess {
  readonly process: ChildProcess;
  send(message: ToChild): void;
  /** The next matching message, or one that has already arrived. Rejects when the process ends before. */
  told(fits: (message: FromChild) => boolean): Promise<FromChild>;
  /** Starts runs and waits until each run with a stop has reached it. */
  stopAt(runs: readonly RunOrder[]): Promise<void>;
  /** Waits until no run is unfinished, in any process. */
  settled(): Promise<void>;
  /** Sends SIGKILL; waits until the process has ended. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a process and waits until its app is ready. */
export async function startOrderProcess(options: ChildOptions): Promise<OrderProcess> {
  const script = await childProgram(new URL("order.child.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const gone = once(child, "exit");
  child.on("error", () => {}); // a process that has ended takes no messages; the caller that waits for the response gets the error
  const seen: FromChild[] = [];
  const listeners = new Set<() => void>();
  child.on("message", (message: FromChild) => {
    seen.push(message);
    for (const listen of listeners) listen();
  });

  function told(fits: (message: FromChild) => boolean): Promise<FromChild> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const at = seen.findIndex(fits);
        if (at === -1) return;
        listeners.delete(look);
        child.off("exit", ended);
        resolve(seen.splice(at, 1)[0] as FromChild);
      };
      const ended = (code: number | null): void => reject(new TypeError(`The process has ended with ${code}`));
      listeners.add(look);
      child.once("exit", ended);
      look();
    });
  }

  const started: OrderProcess = {
    process: child,
    send: (message) => void child.send(message),
    told,
    async stopAt(runs) {
      child.send({ runs } satisfies ToChild);
      for (const { runId, at } of runs) if (at !== undefined) await told((message) => message.at === runId);
    },
    async settled() {
      child.send({ settle: true } satisfies ToChild);
      await told((message) => message.settled === true);
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await gone;
    },
    async close() {
      if (child.connected) child.send({ close: true } satisfies ToChild);
      await gone;
    },
  };
  await told((message) => message.ready === true);
  return started;
}
