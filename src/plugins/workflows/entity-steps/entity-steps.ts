import { isDeepStrictEqual } from "node:util";
import { ConfigurationError } from "../../../entity/index.ts";
import { allOf, defaultIds, type EntityRef, entityName, type Row, type Where } from "../../../gate/index.ts";
import { ConflictError, EntityNotFoundError } from "../../../kernel/index.ts";
import { type Step, type StepContext, WithMemo } from "../definition/step.ts";
import {
  linkAgain,
  otherWrites,
  type Pairs,
  pairsOf,
  unlinkAgain,
  whatFollows,
  withoutPairs,
  writtenPairs,
} from "./entity-links.ts";
import {
  assertProtected,
  assertUnchanged,
  comparedColumns,
  definitionOf,
  type FromContext,
  heldRecord,
  isEntity,
  type Match,
  resolved,
  soleMatch,
} from "./entity-step.ts";

/**
 * A step that creates a record, by the rules of create. Its compensation deletes the record, unless it has been changed
 * since.
 * @param data values, or a function that makes them from the context
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
      const values = { ...(await resolved(data, context)) };
      const others = otherWrites(context, entity, values, "create");
      const created = await create(context, entity, values);
      const stored = (await context.driver.findOne(entity, { id: created.id })) ?? created;
      return new WithMemo(stored, { stored, others });
    },
    async compensate(context, _, memo) {
      const { stored, others } = memo as { readonly stored: Row; readonly others?: readonly string[] };
      assertAlone(others);
      const id = stored.id as string;
      const now = await heldRecord(context, entity, id);
      if (now === null) return; // deleted meanwhile: nothing is left to undo
      // Later steps may have changed the record and undone their change, which leaves only another `updatedAt` and
      // version.
      assertUnchanged(entity, now, stored, comparedColumns(context, entity, stored));
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
  // An entity that is only known by name is assumed to have timestamps, as nearly all entities do.
  if (definitionOf(entity, context)?.timestamps ?? true) {
    const now = new Date();
    row.createdAt ??= now;
    row.updatedAt ??= now;
  }
  return driver.create(entity, row);
}

/** The change of the step, for its compensation. */
interface Memo {
  readonly before: Row;
  readonly after: Row;
  readonly secret: readonly string[];
  /** Relations whose records were written with it. */
  readonly others?: readonly string[];
  readonly linked: readonly Pairs[];
  readonly unlinked: readonly Pairs[];
}

/**
 * A step that changes one record, by the rules of update. Its compensation restores the previous values of the changed
 * fields if they have not been changed since, and restores removed links.
 * @param where conditions that match one record, such as `{ id }`
 * @param data the changed values
 */
export function updateEntityStep(entity: EntityRef, where: FromContext<Where>, data: FromContext<Row>): Step;
export function updateEntityStep(
  name: string,
  entity: EntityRef,
  where: FromContext<Where>,
  data: FromContext<Row>,
): Step;
export function updateEntityStep(...given: readonly unknown[]): Step {
  const isNamed = given.length > 3;
  const [entity, where, data] = (isNamed ? given.slice(1) : given) as [EntityRef, FromContext<Where>, FromContext<Row>];
  if (isNamed && typeof given[0] !== "string") throw new ConfigurationError("The name of a step must be a text");
  return Object.freeze<Step>({
    name: isNamed ? (given[0] as string) : `update-${entityName(entity)}`,
    atomic: true,
    transactional: true,
    async execute(context) {
      assertProtected(entity, context);
      const match = await soleMatch(context, entity, await resolved(where, context), "update");
      const { id } = match;
      const before = id === undefined ? null : await heldRecord(context, entity, id);
      const changes = await resolved(data, context);
      const linked = before === null ? [] : await writtenPairs(context, entity, id as string, changes);
      // If no record matched, the gate throws the right error: not found, or not allowed.
      await update(context, entity, match, changes, before);
      const after = (await context.driver.findOne(entity, { id })) as Row;
      const links = await writtenPairs(context, entity, id as string, changes);
      const columns = comparedColumns(context, entity, after).filter(
        (name) => !isDeepStrictEqual(before?.[name], after[name]),
      );
      const secret = Object.keys(changes).filter((name) => definitionOf(entity, context)?.fields[name]?.password);
      return new WithMemo(after, {
        before: pick(before as Row, columns),
        after: pick(after, [...columns, "id"]),
        secret,
        others: otherWrites(context, entity, changes, "update"),
        linked: withoutPairs(links, linked),
        unlinked: withoutPairs(linked, links),
      });
    },
    async compensate(context, _, memo) {
      const { before, after, secret, others, linked, unlinked } = memo as Memo;
      if (secret.length > 0)
        throw new ConflictError(`A password that was changed cannot be taken back: ${secret.join(", ")}`);
      assertAlone(others);
      const id = after.id as string;
      const now = await heldRecord(context, entity, id);
      if (now === null) throw new ConflictError(`${entityName(entity)} ${id} has been deleted since`);
      assertUnchanged(entity, now, after, Object.keys(before));
      if (Object.keys(before).length > 0) await update(context, entity, { id, query: undefined }, before, now);
      await unlinkAgain(context, linked);
      await linkAgain(context, unlinked);
    },
  });
}

async function update(
  context: StepContext,
  entity: EntityRef,
  { id = "", query }: Match,
  data: Row,
  before: Row | null,
): Promise<void> {
  const { scope, driver } = context;
  const isApplied =
    scope === undefined
      ? before !== null && (await driver.update(entity, allOf({ id }, query?.where), data)) !== null
      : (await scope.run({ kind: "update", entity, id, data, query })).applied;
  if (!isApplied) throw new EntityNotFoundError();
}

/** @throws ConflictError if records of relations were written, too */
function assertAlone(others: readonly string[] = []): void {
  if (others.length > 0)
    throw new ConflictError(`Related records that were written cannot be taken back: ${others.join(", ")}`);
}

function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/**
 * A step that deletes one record, by the rules of delete. Its compensation creates the record again with the same id
 * and links. The step fails if the deletion would delete or change other records, because these cannot be restored.
 * Records with passwords cannot be created again, because passwords are not kept.
 * @param where conditions that match one record, such as `{ id }`
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
      const { id, query } = await soleMatch(context, entity, await resolved(where, context), "delete");
      const before = id === undefined ? null : await heldRecord(context, entity, id, "delete");
      const follows = before === null ? undefined : await whatFollows(context, entity, id as string);
      const links = before === null ? [] : await pairsOf(context, entity, id as string);
      const isDeleted =
        scope === undefined
          ? id !== undefined && (await driver.delete(entity, allOf({ id }, query?.where)))
          : (await scope.run({ kind: "delete", entity, id: id ?? "", query })).applied;
      if (!isDeleted) throw new EntityNotFoundError();
      // Thrown after the delete, so that only callers who may delete the record see it; the transaction rolls back.
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
      // Omitted fields are not enumerable, but belong to the record.
      const data = { ...before, ...Object.fromEntries((definition?.hidden ?? []).map((name) => [name, before[name]])) };
      const { scope, driver } = context;
      if (scope === undefined) await driver.create(entity, data);
      else await scope.run({ kind: "create", entity, data: withoutIndexes(data, definition?.columns ?? {}) });
      await linkAgain(context, links);
    },
  });
}

/** Leaves out blind indexes and search words, which are computed from the values. */
function withoutIndexes(data: Row, columns: Readonly<Record<string, { readonly of?: string | undefined }>>): Row {
  return Object.fromEntries(Object.entries(data).filter(([name]) => columns[name]?.of === undefined));
}
