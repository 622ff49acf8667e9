import { randomUUID } from "node:crypto";
import { handleError } from "../errors/handle-error.ts";
import { baseHeaders } from "./base-headers.ts";
import type { KernelResponse } from "./messages.ts";

/** The answer to what never becomes a request, or to an answer that cannot be written, in the one error shape. */
export function refusal(error: unknown): KernelResponse & { body: string } {
  const requestId = randomUUID();
  const { status, headers, body } = handleError(error, { requestId });
  return { status, headers: { ...baseHeaders(requestId), ...headers }, body: JSON.stringify(body) };
}
