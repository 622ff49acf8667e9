export { createBenchApp } from "./keelson-app.ts"; export { listPath } from "./workloads.ts"; export { toNodeHandler } from "keelson/node";
