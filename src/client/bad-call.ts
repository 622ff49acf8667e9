import { KeelsonClientError } from "./keelson-client-error.ts";

/** A call that makes no request, refused as the API would refuse it. */
export function badCall(message: string): KeelsonClientError {
  return new KeelsonClientError({ code: "BAD_REQUEST", status: 400, message });
}
