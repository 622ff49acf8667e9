import type { KernelResponse } from "./messages.ts";

export function isStream(value: unknown): value is AsyncIterable<Uint8Array | string> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/**
 * Ends a body that will not be sent, or not to its end. Nothing more is read of a stream, and what `endWith` has put on
 * its end runs.
 */
export async function cancelBody({ body }: Pick<KernelResponse, "body">): Promise<void> {
  try {
    if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
  } catch {
    // It has nothing left to tell.
  }
}
