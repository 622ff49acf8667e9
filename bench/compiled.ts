// Runs a benchmark of this folder compiled, as a user would deploy it: `tsx bench/compiled.ts remote-joins`.
import { runCompiled } from "./build.ts";

await runCompiled(process.argv[2] ?? "");
