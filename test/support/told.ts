import type { ChildProcess } from "node:child_process";

/** The value of this member in the first message of a child process that has it; optionally only this value counts. */
export function told<T>(child: ChildProcess, key: string, value?: T): Promise<T> {
  return new Promise((resolve) => {
    child.on("message", (message: Readonly<Record<string, T>>) => {
      const found = message[key];
      if (found !== undefined && (value === undefined || found === value)) resolve(found);
    });
  });
}
