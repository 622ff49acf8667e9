import type { AnyEntity } from "../../../entity/index.ts";
import { type OperationScope, presentSettled, Reply, type Row, routeSegment } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action.ts";
import type { ActionRecord } from "../action-context.ts";
import { definitionOf } from "../definition-of.ts";

/**
 * `POST /:id/clone` makes a new record of what the caller may read and write of another one, by the rules of read and of
 * create; the caller owns it (spec 4.2). Passwords are never copied, nor that the record is deleted. For the system the
 * copy belongs to whom the record belongs.
 * @param fieldsToExclude fields that are left out besides `id`, `createdAt` and `updatedAt` @default none
 */
export function cloneAction(fieldsToExclude: readonly string[] = []): ActionBuilder<PlainShape<ActionRecord, true>> {
  return new ActionBuilder<PlainShape<ActionRecord, true>>({
    method: "POST",
    path: "/:id/clone",
    description: "Copies the record",
    query: {},
    readsBody: false,
    access: "create",
    authorizes: "operations",
    check(entity) {
      if (!Array.isArray(fieldsToExclude)) return 'cloneAction takes a list of fields, as in cloneAction(["slug"])';
      const unknown = fieldsToExclude.find((name) => !Object.hasOwn(entity.columns, name));
      return unknown === undefined ? undefined : `there is no field "${unknown}" to leave out`;
    },
    describe({ reads, record }, { entity }) {
      if (!reads(entity)) return undefined;
      const content = { "application/json": record(entity, "record") };
      const answers = { 201: { description: "The copy.", content, headers: { Location: "Where it is." } } };
      return { answers, errors: [403, 404, 409] };
    },
    async handler({ scope, entity, params, rules, root }) {
      const read = await scope.run({ kind: "read", entity, id: params.id, rules });
      const copied = await copyable(read.records[0] as Row, entity, scope, fieldsToExclude);
      const { records } = await scope.run({ kind: "create", entity, rules, data: copied });
      const location = `${root}/${routeSegment(entity)}/${encodeURIComponent(String(records[0]?.id))}`;
      return new Reply(201, records[0], { location });
    },
  });
}

/** What this caller sees of the record and may write; not the owner, who becomes the caller, if that is a user. */
async function copyable(
  record: Row,
  entity: AnyEntity,
  scope: OperationScope,
  excluded: readonly string[],
): Promise<Row> {
  const shown = (await presentSettled(record, scope, false)) as Row;
  const { writable } = scope.mask(entity);
  const owner = Object.values(entity.columns).find(
    ({ relation }) => relation !== undefined && relation === entity.ownedBy,
  );
  const replaced = scope.principal.kind === "system" ? [] : [owner?.name];
  const left = new Set([...excluded, "id", "createdAt", "updatedAt", ...deletionFields(entity), ...replaced]);
  return Object.fromEntries(
    Object.entries(shown).filter(
      ([name]) => Object.hasOwn(entity.columns, name) && writable.has(name) && !left.has(name),
    ),
  );
}

/** Where actions of the entity store that a record is deleted. */
function deletionFields(entity: AnyEntity): readonly string[] {
  return Object.values(entity.actions).flatMap((value) => {
    const found = definitionOf(value);
    return typeof found === "string" || found.deletesBy === undefined ? [] : [found.deletesBy(entity)];
  });
}
