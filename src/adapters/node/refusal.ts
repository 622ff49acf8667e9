import { randomUUID } from "node:crypto";
import { baseHeaders, handleError, type KernelResponse } from "../../kernel/index.ts";

/** The answer to what never becomes a request of the kernel, in the one error shape (http.md). */
export function refusal(error: unknown): KernelResponse & { body: string } {
  const requestId = randomUUID();
  const { status, headers, body } = handleError(error, { requestId });
  return { status, headers: { ...baseHeaders(requestId), ...headers }, body: JSON.stringify(body) };
}
