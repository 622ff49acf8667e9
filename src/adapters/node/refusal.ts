import { randomUUID } from "node:crypto";
import { handleError, type KernelResponse } from "../../kernel/index.ts";

/** The answer to what never becomes a request of the kernel, in the one error shape (http.md). */
export function refusal(error: unknown): KernelResponse & { body: string } {
  const requestId = randomUUID();
  const { status, headers, body } = handleError(error, { requestId });
  const always = {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    vary: "Authorization, Cookie, Origin",
  };
  return { status, headers: { ...always, ...headers }, body: JSON.stringify(body) };
}
