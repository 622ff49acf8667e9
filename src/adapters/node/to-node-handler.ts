import type { IncomingMessage, ServerResponse } from "node:http";
import { EntityNotFoundError, refusal } from "../../kernel/index.ts";
import { answer, type HandlingApp } from "./answer-request.ts";
import { basePath, originForm, pathBelow } from "./request-path.ts";

/** Options of `toNodeHandler`. */
export interface NodeHandlerOptions {
  /** Identifies the caller; takes precedence over the app's own `getUser`. @default the app's */
  readonly getUser?: ((request: IncomingMessage) => unknown) | undefined;
  /** The path that the app is served under instead of its API prefix; other paths get 404. @default the API prefix */
  readonly base?: string | undefined;
}

/** Handles requests outside `base`. */
const elsewhere: HandlingApp = { handle: async () => refusal(new EntityNotFoundError()) };

/** A request listener for `node:http`. */
export type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Makes a request listener for node:http from an app.
 * @throws ConfigurationError when `base` is not a path
 * @example createServer(toNodeHandler(api)).listen(3000)
 */
export function toNodeHandler(api: HandlingApp, { getUser, ...options }: NodeHandlerOptions = {}): NodeHandler {
  const base = basePath(options.base);
  return (incoming, outgoing) => {
    const target = originForm(incoming.url);
    const url = base ? pathBelow(base, target) : target;
    // `answer` always settles; node:http ignores a listener's promise.
    if (url === undefined) void answer(elsewhere, incoming, outgoing, { url: target });
    else void answer(api, incoming, outgoing, { url, base, getUser });
  };
}
