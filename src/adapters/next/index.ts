// The adapter for Next.js: the handlers of a catch-all route of the App Router.
// Interface: public-api.md, "Adapters"; architecture.md 3.3.
export { type NextHandler, type NextHandlerOptions, type NextHandlers, toNextHandler } from "./to-next-handler.ts";
