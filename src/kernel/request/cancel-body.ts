import type { KernelResponse } from "./messages.ts";

export function isStream(value: unknown): value is AsyncIterable<Uint8Array | string> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** Gives up a body that nobody will read; a stream is not even begun, and what waits for its end goes on. */
export async function cancelBody({ body }: Pick<KernelResponse, "body">): Promise<void> {
  try {
    if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
  } catch {
    // It has nothing left to tell.
  }
}
