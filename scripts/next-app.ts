// `npm run example:next`: installs, builds and starts examples/next-app. `PORT` and `NOTES_FILE` say where.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { installNextApp } from "./install-next-app.ts";
import { runNext } from "./run-next.ts";

let running: ChildProcess | undefined;
// Next finishes the answers in flight itself; this process stays for as long as it takes.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => running?.kill(signal));

const app = await installNextApp();
for (const command of ["build", "start"] as const) {
  running = runNext(command, app);
  const [code] = await once(running, "exit");
  process.exitCode = code ?? 1;
  if (code !== 0) break;
}
