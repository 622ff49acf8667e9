// The adapter for Next.js: the handlers of a catch-all route of the App Router.
export { type NextHandlers, toNextHandler } from "./to-next-handler.ts";
