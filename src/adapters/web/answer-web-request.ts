import { type Answering, answerWeb } from "../../kernel/index.ts";
import type { WebRequest } from "./web-request.ts";

/** Handles a request, and drops the rest of its body first: hosts do not read on. Never rejects. */
export function answerWebRequest(app: Answering, request: WebRequest): Promise<Response> {
  return answerWeb(app, request, () => request.discardBody());
}
