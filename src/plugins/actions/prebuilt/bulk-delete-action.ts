import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { describeBulk, readBulk } from "./bulk-input.ts";

interface BulkDeleteInput {
  readonly ids: readonly string[];
}

/**
 * `DELETE /bulk`, also `POST /bulk-delete` for proxies that drop the body of a DELETE, deletes those of some records that
 * the caller may delete, by the rules of delete and in one transaction (spec 4.2).
 */
export function bulkDeleteAction(): ActionBuilder<PlainShape<{ readonly count: number }, false, BulkDeleteInput>> {
  return new ActionBuilder<PlainShape<{ readonly count: number }, false, BulkDeleteInput>>({
    method: "DELETE",
    path: "/bulk",
    aliases: [{ method: "POST", path: "/bulk-delete" }],
    description: "Deletes several records",
    query: {},
    readsBody: true,
    access: "delete",
    authorizes: "operations",
    describe: ({ scope }) => describeBulk(scope.limits.bulk),
    async handler({ scope, entity, input, rules }) {
      const { ids } = readBulk(input, ["ids"], scope.limits.bulk);
      const { total = 0 } = await scope.run({ kind: "delete", entity, ids, rules });
      return { count: total };
    },
  });
}
