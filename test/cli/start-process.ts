import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { builtPackage } from "./built-package.ts";

/** A command in a separate process. */
export interface StartedCommand {
  readonly child: ChildProcess;
  /** Its output so far, on both streams. */
  said(): string;
  /** The first match of a pattern in its output after a position, once there is one. */
  until(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts `keelson` as a user does, and ends it with the test.
 * @param group whether it and its children are a process group, as at a terminal: a negative id signals all of them
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
