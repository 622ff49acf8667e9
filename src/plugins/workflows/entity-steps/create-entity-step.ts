import { ConfigurationError } from "../../../entity/index.ts";
import { defaultIds, type EntityRef, entityName, type Row } from "../../../gate/index.ts";
import { ConflictError } from "../../../kernel/index.ts";
import { type Step, WithMemo } from "../definition/step.ts";
import type { StepContext } from "../definition/step-context.ts";
import {
  assertProtected,
  assertUnchanged,
  definitionOf,
  type FromContext,
  heldRecord,
  isEntity,
  resolved,
} from "./entity-step.ts";

/**
 * A step that creates a record, by the rules of create. Its compensation deletes the record, unless it has been changed
 * since.
 * @param data values, or how to make them
 * @example
 * createEntityStep("order", ({ input }) => ({ item: input.item }))
 * createEntityStep("create-order", "order", ({ input }) => ({ item: input.item }))
 */
export function createEntityStep(entity: EntityRef, data: FromContext<Row>): Step;
export function createEntityStep(name: string, entity: EntityRef, data?: FromContext<Row>): Step;
export function createEntityStep(
  first: EntityRef,
  second: FromContext<Row> | EntityRef,
  third?: FromContext<Row>,
): Step {
  const isNamed = third !== undefined || isEntity(second) || typeof second === "string";
  const entity = isNamed ? (second as EntityRef) : first;
  const data = (isNamed ? (third ?? {}) : second) as FromContext<Row>;
  if (isNamed && typeof first !== "string") throw new ConfigurationError("The name of a step must be a text");
  return Object.freeze<Step>({
    name: isNamed ? (first as string) : `create-${entityName(entity)}`,
    atomic: true,
    transactional: true,
    async execute(context) {
      assertProtected(entity, context);
      const created = await create(context, entity, { ...(await resolved(data, context)) });
      const stored = (await context.driver.findOne(entity, { id: created.id })) ?? created;
      return new WithMemo(stored, { stored });
    },
    async compensate(context, _, memo) {
      const { stored } = memo as { readonly stored: Row };
      const id = stored.id as string;
      const now = await heldRecord(context, entity, id);
      if (now === null) return; // deleted meanwhile: there is nothing left to undo
      // Later steps may have changed it, and taken that back: only the time of the last change tells.
      const columns = Object.keys(stored).filter((column) => column !== "updatedAt" && column !== "version");
      assertUnchanged(entity, now, stored, columns);
      const { scope, driver } = context;
      const isGone =
        scope === undefined
          ? await driver.delete(entity, { id })
          : (await scope.run({ kind: "delete", entity, id, query: { deleted: "with" }, ifFound: true })).applied;
      if (!isGone) throw new ConflictError(`${entityName(entity)} ${id} could not be deleted`);
    },
  });
}

async function create(context: StepContext, entity: EntityRef, data: Row): Promise<Row> {
  const { scope, driver } = context;
  if (scope !== undefined) return (await scope.run({ kind: "create", entity, data })).records[0] as Row;
  const row: Row = { id: defaultIds.next(), ...data };
  // Nothing is known of an entity by its name alone, and nearly all have timestamps.
  if (definitionOf(entity, context)?.timestamps ?? true) {
    const now = new Date();
    row.createdAt ??= now;
    row.updatedAt ??= now;
  }
  return driver.create(entity, row);
}
