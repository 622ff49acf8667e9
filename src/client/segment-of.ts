import { badCall } from "./bad-call.ts";
import { encode } from "./encode.ts";

/** An id as one segment of a path. @throws KeelsonClientError when a call on one record was not told which */
export function segmentOf(id: unknown): string {
  if (typeof id !== "string" || id === "") throw badCall("An id is needed");
  // URLs leave these out however they are written, and the request would be about something else.
  if (id === "." || id === "..") throw badCall('"." and ".." cannot be in a path');
  try {
    return `/${encode(id)}`;
  } catch {
    throw badCall("An id cannot have half a character in it");
  }
}
