import type { Writable } from "node:stream";
import type { Terminal } from "./terminal.ts";

/** Tells how far work is. @param text what is being done, for a line of its own */
export type ReportProgress = (done: number, total: number, text: string) => void;

interface Progress {
  readonly report: ReportProgress;
  end(text: string): void;
}

/**
 * Runs long work and shows how far it is: a bar for a person; for a log a line per tenth of the work, because a line per
 * step would bury everything else.
 */
export async function withProgress<T>(
  terminal: Terminal,
  title: string,
  work: (report: ReportProgress) => Promise<T>,
): Promise<T> {
  const { report, end } = terminal.interactive ? await bar(terminal, title) : lines(terminal, title);
  let said = title;
  try {
    return await work((done, total, text) => {
      said = text;
      report(done, total, text);
    });
  } finally {
    end(said);
  }
}

async function bar({ stderr }: Terminal, title: string): Promise<Progress> {
  const { progress } = await import("@clack/prompts");
  let started: ReturnType<typeof progress> | undefined;
  let before = 0;
  return {
    report(done, total, text) {
      if (started === undefined) {
        started = progress({ max: Math.max(1, total), output: stderr as Writable });
        started.start(title);
      }
      started.advance(Math.max(0, done - before), text);
      before = done;
    },
    end: (text) => started?.stop(text),
  };
}

function lines({ stderr }: Terminal, title: string): Progress {
  let tenths = 0;
  stderr.write(`${title}\n`);
  return {
    report(done, total, text) {
      const reached = total === 0 ? 10 : Math.floor((10 * done) / total);
      if (reached <= tenths) return;
      tenths = reached;
      stderr.write(`${text}\n`);
    },
    end: () => undefined,
  };
}
