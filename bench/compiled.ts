// Runs a benchmark of this folder compiled, as a user would deploy it: `tsx bench/compiled.ts growth rows`.
import { runCompiled } from "./build.ts";

const [name = "", ...args] = process.argv.slice(2);
/** What a benchmark starts in processes of their own. */
const beside: Readonly<Record<string, readonly string[]>> = {
  growth: ["server-cluster", "idle-connections"],
  pgbouncer: ["server-cluster"],
};
await runCompiled(name, beside[name], args);
