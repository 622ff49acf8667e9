import { ConfigurationError } from "../../../entity/index.ts";
import { type EntityRef, entityName, type Row, type Where } from "../../../gate/index.ts";
import { ConflictError, EntityNotFoundError } from "../../../kernel/index.ts";
import { type Step, WithMemo } from "../definition/step.ts";
import { linkAgain, type Pairs, pairsOf, whatFollows } from "./entity-links.ts";
import {
  assertProtected,
  definitionOf,
  type FromContext,
  heldRecord,
  isEntity,
  resolved,
  soleMatch,
} from "./entity-step.ts";

/**
 * A step that deletes one record, by the rules of delete; its compensation creates it again with the same id, and links it
 * again. It refuses where the deletion would delete or change other records: these nothing brings back. Records with
 * passwords cannot be created again: these are kept nowhere.
 * @param where conditions that one record meets, such as `{ id }`
 */
export function deleteEntityStep(entity: EntityRef, where: FromContext<Where>): Step;
export function deleteEntityStep(name: string, entity: EntityRef, where: FromContext<Where>): Step;
export function deleteEntityStep(...given: readonly unknown[]): Step {
  const isNamed = given.length > 2 || isEntity(given[1]);
  const [entity, where] = (isNamed ? given.slice(1) : given) as [EntityRef, FromContext<Where>];
  if (isNamed && typeof given[0] !== "string") throw new ConfigurationError("The name of a step must be a text");
  return Object.freeze<Step>({
    name: isNamed ? (given[0] as string) : `delete-${entityName(entity)}`,
    atomic: true,
    transactional: true,
    async execute(context) {
      assertProtected(entity, context);
      const { scope, driver } = context;
      const id = await soleMatch(context, entity, await resolved(where, context), "delete");
      const before = id === undefined ? null : await heldRecord(context, entity, id);
      const follows = before === null ? undefined : await whatFollows(context, entity, id as string);
      const links = before === null ? [] : await pairsOf(context, entity, id as string);
      if (scope !== undefined) await scope.run({ kind: "delete", entity, id: id ?? "" });
      else if (id === undefined || !(await driver.delete(entity, { id }))) throw new EntityNotFoundError();
      // Said to those only who may delete it; the transaction takes that back.
      if (follows !== undefined)
        throw new ConflictError(
          `${entityName(entity)} ${id} cannot be deleted in a way that can be taken back: ${follows} points to it`,
        );
      return new WithMemo(before, { before, links });
    },
    async compensate(context, _, memo) {
      const { before, links } = memo as { readonly before: Row; readonly links: readonly Pairs[] };
      const definition = definitionOf(entity, context);
      const secret = Object.values(definition?.fields ?? {}).some(({ password }) => password !== undefined);
      if (secret)
        throw new ConflictError(
          `${entityName(entity)} ${String(before.id)} had a password and cannot be created again`,
        );
      // Omitted fields are not enumerable, and belong to the record all the same.
      const data = { ...before, ...Object.fromEntries((definition?.hidden ?? []).map((name) => [name, before[name]])) };
      const { scope, driver } = context;
      if (scope === undefined) await driver.create(entity, data);
      else await scope.run({ kind: "create", entity, data: withoutIndexes(data, definition?.columns ?? {}) });
      await linkAgain(context, links);
    },
  });
}

/** Blind indexes are made anew with the values they find. */
function withoutIndexes(data: Row, columns: Readonly<Record<string, { readonly role: string }>>): Row {
  return Object.fromEntries(Object.entries(data).filter(([name]) => columns[name]?.role !== "blindIndex"));
}
