import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { createRequire } from "node:module";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");

/** Starts `next build` or `next start` for the app in a folder; nothing is told to anybody about it. */
export function runNext(
  command: "build" | "start",
  app: string,
  { env, ...options }: Pick<SpawnOptions, "stdio"> & { readonly env?: Readonly<Record<string, string>> } = {},
): ChildProcess {
  return spawn(process.execPath, [next, command, app], {
    stdio: "inherit",
    ...options,
    env: { ...process.env, ...env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  });
}
