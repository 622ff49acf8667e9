import { type Answering, answerWeb } from "../../kernel/index.ts";
import type { WebRequest } from "./web-request.ts";

/**
 * Handles a request, and discards the rest of its body before returning the response, because hosts do not read it.
 * Never rejects.
 */
export function answerWebRequest(app: Answering, request: WebRequest): Promise<Response> {
  return answerWeb(app, request, () => request.discardBody());
}
