import type { RemoteFailure } from "./http-service/remote-failure.ts";

/** The same failure for all ids of a batch. */
export function failAll(ids: readonly string[], failure: RemoteFailure): readonly RemoteFailure[] {
  return ids.map(() => failure);
}
