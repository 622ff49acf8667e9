import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { builtPackage } from "./built-package.ts";

/** A command in a process of its own. */
export interface StartedCommand {
  readonly child: ChildProcess;
  /** What it has said so far, on both streams. */
  said(): string;
  /** The first match of a pattern in what it says after a position, once it is there. */
  until(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  /** How it ended. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts `keelson` as a user does, and ends it with the test.
 * @param group whether it and what it starts are a group, as at a terminal: a negative id signals all of them
 */
export async function startCommand(
  folder: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { group = false }: { readonly group?: boolean } = {},
): Promise<StartedCommand> {
  const { NODE_ENV: _, VITEST: __, ...rest } = process.env;
  const child = spawn(process.execPath, [join(await builtPackage(), "dist/cli.js"), ...words], {
    cwd: folder,
    env: { ...rest, ...env } as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
    detached: group,
  });
  let text = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      text += chunk;
      for (const listener of listeners) listener();
    });
  const ended = once(child, "close").then(([code]) => code as number | null);
  onTestFinished(async () => {
    // It ends its own child first.
    child.kill("SIGTERM");
    await ended;
  });
  return {
    child,
    said: () => text,
    ended,
    until: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(text.slice(from));
          if (found === null) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended without ${pattern}:\n${text}`)));
      }),
  };
}
