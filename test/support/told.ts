import type { ChildProcess } from "node:child_process";

/** What the first message of a child process that has this member has there, of those with this value if one is given. */
export function told<T>(child: ChildProcess, key: string, value?: T): Promise<T> {
  return new Promise((resolve) => {
    child.on("message", (message: Readonly<Record<string, T>>) => {
      const found = message[key];
      if (found !== undefined && (value === undefined || found === value)) resolve(found);
    });
  });
}
