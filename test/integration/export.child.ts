// A server whose records are exported by export-memory.test.ts, on the PostgreSQL of its argument. It tells its parent
// when an export has ended, and responds to "measure" with its memory and the statements it has sent.

import { withMiddleware } from "../../src/gate/index.ts";
import { defineRule, entity, exportAction, int, keelson, noopLogger, postgres, string, text } from "../../src/index.ts";
import { startApp } from "../support/http.ts";

const line = entity("line", { title: string, body: text, amount: int, status: string.optional() })
  .rules({ read: [defineRule("anyone", ({ resolve }) => resolve("ending") !== undefined)] })
  .actions({ export: exportAction });

const inner = postgres(process.argv[2] as string);
let statements = 0;
let peak = 0;
const driver = withMiddleware(inner, async (statement, next) => {
  const result = await next(statement);
  if (statement.kind === "find") {
    statements += 1;
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  return result;
});

const api = keelson({ entities: [line], driver, logger: noopLogger });
api.registerService("ending", () => ({ close: () => void process.send?.({ ended: true }) }), { lifecycle: "scoped" });
const { port, close } = await startApp(api);
process.on("message", (message) => {
  if (message === "close") return void close().then(() => process.disconnect());
  const rss = process.memoryUsage.rss();
  process.send?.({ measured: { rss, peak, statements } });
  peak = rss;
  statements = 0;
});
process.send?.({ port });
