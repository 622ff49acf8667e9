import { startScript } from "../support/example-process.ts";
import { testNotesServer } from "../support/notes-example.ts";

testNotesServer("examples/express-server", {
  start: (env) => startScript("examples/express-server/start.ts", env),
  exitCode: 0,
});
