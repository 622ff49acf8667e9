import { startScript } from "../support/example-process.ts";
import { testNotesServer } from "../support/notes-example.ts";

testNotesServer("examples/hono-server", {
  start: (env) => startScript("examples/hono-server/start.ts", env),
  exitCode: 0,
});
