import { randomUUID } from "node:crypto";
import { baseHeaders } from "../request/base-headers.ts";
import type { KernelResponse } from "../request/messages.ts";
import { handleError } from "./handle-error.ts";

/** The answer to what never becomes a request, or to an answer that cannot be written, in the one error shape. */
export function refusal(error: unknown): KernelResponse & { body: string } {
  const requestId = randomUUID();
  const { status, headers, body } = handleError(error, { requestId });
  return { status, headers: { ...baseHeaders(requestId), ...headers }, body: JSON.stringify(body) };
}
