// The adapter for express 4 and 5: a middleware that handles the API's requests and passes on all others.
export { type ExpressHandler, expressAdapter } from "./express-adapter.ts";
