import { BadRequestError, Reply } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { describeBulk, readBulk } from "./bulk-input.ts";

interface BulkUpdateInput {
  readonly ids: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * `PUT /bulk`, also `POST /bulk-update`, changes those of some records that the caller may change, by the rules of update
 * and in one transaction: all of them, or none when something is wrong (spec 4.2).
 */
export function bulkUpdateAction(): ActionBuilder<PlainShape<{ readonly count: number }, false, BulkUpdateInput>> {
  return new ActionBuilder<PlainShape<{ readonly count: number }, false, BulkUpdateInput>>({
    method: "PUT",
    path: "/bulk",
    aliases: [{ method: "POST", path: "/bulk-update" }],
    description: "Changes several records",
    query: {},
    readsBody: true,
    access: "update",
    authorizes: "operations",
    describe: ({ scope, record }, { entity }) =>
      describeBulk(scope.limits.bulk, record(entity, "update"), {
        "X-Ignored-Fields": "Fields that were sent, and that the caller may not write.",
      }),
    async handler({ scope, entity, input, rules }) {
      const { ids, data } = readBulk(input, ["ids", "data"], scope.limits.bulk);
      // Each record needs a hash of its own, which takes the better part of a second.
      const password = Object.keys(data).find((name) => entity.fields[name]?.password !== undefined);
      if (password !== undefined) throw new BadRequestError(`"${password}" cannot be set on several records at once`);
      const { total: count, ignored } = await scope.run({ kind: "update", entity, ids, rules, data });
      return new Reply(200, { count }, ignored.length === 0 ? {} : { "x-ignored-fields": ignored.join(", ") });
    },
  });
}
