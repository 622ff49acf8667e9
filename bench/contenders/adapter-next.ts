// The API in memory, in bench/next-app: `next start` in this process, for the app that the runner has built.
import { createRequire } from "node:module";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");
process.argv.splice(1, process.argv.length, next, "start", process.env.BENCH_NEXT_APP as string);
process.argv.push("--port", process.env.PORT as string, "--hostname", "127.0.0.1");
await import(next);
