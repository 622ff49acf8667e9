import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { installNextApp } from "../../scripts/install-next-app.ts";
import { runNext } from "../../scripts/run-next.ts";
import { whenListening } from "../support/example-process.ts";
import { testNotesServer } from "../support/notes-example.ts";
import { repositoryRoot } from "../support/source-files.ts";

// Not the folder of `npm run example:next`, which may be running, nor that of another run of this test.
const folder = join(repositoryRoot, ".cache", `next-app-${process.pid}`);
let app: string;

beforeAll(async () => {
  app = await installNextApp(folder);
  const [code] = await once(runNext("build", app, { stdio: ["ignore", "ignore", "inherit"] }), "exit");
  if (code !== 0) throw new Error("next build has failed; what it says is above");
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

testNotesServer("examples/next-app, built and started", {
  start: (env) =>
    whenListening(runNext("start", app, { env: { PORT: "0", ...env }, stdio: ["ignore", "pipe", "pipe"] })),
  // Next finishes pending responses itself, and then exits with the signal's code (128 + 15).
  exitCode: 143,
});
