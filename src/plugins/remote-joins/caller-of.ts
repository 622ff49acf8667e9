import type { OperationScope, RemoteCaller } from "../../gate/index.ts";

/** Who calls, as services may know it: a user, and the headers of the request; of the system there is neither user. */
export function callerOf({ principal, exchange }: Pick<OperationScope, "principal" | "exchange">): RemoteCaller {
  return {
    user: principal.user,
    header(name) {
      const value = exchange?.request.headers[name.toLowerCase()];
      return typeof value === "string" || value === undefined ? value : value.join(", ");
    },
  };
}
