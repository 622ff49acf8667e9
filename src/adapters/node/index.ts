// The adapter for node:http: a request listener, a server with timeouts and graceful shutdown, and that shutdown for a
// host's own server.
export { type Graceful, gracefully } from "./gracefully.ts";
export { type ServableApp, type Served, serve } from "./serve.ts";
export { toNodeHandler } from "./to-node-handler.ts";
