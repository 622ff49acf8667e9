// The adapter for node:http: a request listener, a server with timeouts and a graceful end, and that end for a host's own server.
export type { HandlingApp } from "./answer-request.ts";
export { type Graceful, type GracefulOptions, gracefully } from "./gracefully.ts";
export { type ServableApp, type Served, type ServeOptions, serve } from "./serve.ts";
export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "./to-node-handler.ts";
