import { KeelsonClientError } from "./keelson-client-error.ts";
import type { Answer } from "./read-answer.ts";

/** An answer that the API does not give: another server's, or one that lost a part on its way. */
export function unexpectedAnswer({ status, headers }: Answer, message: string): KeelsonClientError {
  const requestId = headers.get("x-request-id") ?? undefined;
  return new KeelsonClientError({ code: "UNEXPECTED_ANSWER", status, message, headers, requestId });
}
