// The adapter for Hono 4: a handler and a part of an app that handles the API's requests and passes on all others.
export { type HonoHandler, honoAdapter } from "./hono-adapter.ts";
