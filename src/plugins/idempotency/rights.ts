import { randomUUID } from "node:crypto";
import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import {
  compileWhere,
  digestOf,
  isUsable,
  looksAt,
  type OperationInput,
  type OperationScope,
  presentSettled,
  type RecordUse,
  type Row,
  type RowAccess,
  type ShownRecords,
  type Where,
} from "../../gate/index.ts";

/** The rights that a response depends on: entities, records and uses, and digests of the caller's access to them. */
export interface Rights {
  readonly entities: readonly string[];
  /** For each entity: whether the caller may read all, some or no records, and which fields. */
  readonly digest: string;
  /**
   * The visible records of each entity that was counted or has no records below. Undefined in responses of earlier
   * versions.
   */
  readonly reach?: string | undefined;
  /** Entities whose records were counted. */
  readonly counted?: readonly string[] | undefined;
  /** Ids of shown records by entity. They are checked again, even if the caller may read all records now. */
  readonly records?: Readonly<Record<string, readonly string[]>> | undefined;
  /** For each of these records: whether it may be read, and which fields it shows. */
  readonly seen?: string | undefined;
  /** Uses for which actions were authorized, and whether the caller still had them after the request. */
  readonly uses?: readonly KeptUse[] | undefined;
}

/** A use for which an action was authorized, with the name of its entity. */
interface KeptUse extends Omit<RecordUse, "entity"> {
  readonly entity: string;
  readonly allowed: boolean;
  /** A digest of the records that the rules allow, if the response depends on them. */
  readonly reach?: string | undefined;
}

/** Ids of records, by the names of their entities. */
type RecordIds = ReadonlyMap<string, Iterable<string>>;

/** The most ids of one statement. */
const PORTION = 500;
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/** The rights to what a response depends on, as they are. */
interface Present {
  readonly rights: Rights;
  readonly details: RightDetails;
}

/** The rights on each entity, and on the shown records of it. */
export type RightDetails = Readonly<Record<string, EntityDetails>>;

interface EntityDetails {
  readonly allowed: boolean;
  readonly isForAll: boolean;
  readonly readable: readonly string[];
  readonly readablePerRow: readonly string[];
  /** The visible fields of each shown record; null for one that cannot be read. Undefined if all records can be read. */
  readonly sights?: readonly (readonly string[] | null)[] | undefined;
  /** The condition on records of another service. */
  readonly foreign?: string | undefined;
}

/**
 * The caller's present rights to what a response depends on.
 * @param further entities that it may depend on in addition
 */
export async function rightsNow(
  scope: OperationScope,
  { ids, counted, detailed, uses }: ShownRecords,
  further: Iterable<AnyEntity> = [],
): Promise<Present> {
  const records = new Map(Array.from(ids, ([{ name }, own]) => [name, own]));
  const entities = [...records.keys(), ...namesOf(further)];
  const { rights, details } = await rightsOf(scope, entities, records, namesOf(counted), new Set(namesOf(detailed)));
  const used = await usesNow(
    scope,
    uses.map((use) => ({ ...use, entity: use.entity.name })),
  );
  return { rights: used.length === 0 ? rights : { ...rights, uses: used }, details };
}

const namesOf = (entities: Iterable<AnyEntity>): string[] => Array.from(entities, ({ name }) => name);

/** Whether a caller still has the rights. Uses count as far as the caller had them. */
export async function hasStill(scope: OperationScope, kept: Rights): Promise<boolean> {
  const { rights: now } = await sameRights(scope, kept);
  const before = kept.uses ?? [];
  const uses = await usesNow(scope, before);
  const isLost = uses.some(({ allowed, reach }, index) => {
    const use = before[index];
    return (use?.allowed === true && !allowed) || use?.reach !== reach;
  });
  if (isLost || now.digest !== kept.digest) return false;
  if (kept.reach !== undefined && now.reach !== kept.reach) return false;
  return kept.records === undefined || now.seen === kept.seen;
}

/** Whether a caller has lost access to entities, or to records that were shown, or to fields of either. */
export async function hasLost(scope: OperationScope, kept: Rights, before: RightDetails): Promise<boolean> {
  const { details } = await sameRights(scope, kept);
  return Object.entries(before).some(([name, one]) => isLess(one, details[name]));
}

function sameRights(scope: OperationScope, { entities, records = {}, counted }: Rights): Promise<Present> {
  return rightsOf(scope, entities, new Map(Object.entries(records)), counted);
}

function isLess(before: EntityDetails, now: EntityDetails | undefined): boolean {
  if (now === undefined || (before.allowed && !now.allowed) || (before.isForAll && !now.isForAll)) return true;
  const visible = [...now.readable, ...now.readablePerRow];
  if (lacks(now.readable, before.readable) || lacks(visible, before.readablePerRow)) return true;
  if (before.foreign !== now.foreign) return true;
  if (now.sights === undefined) return false;
  return now.sights.some((sight, index) => {
    const earlier = before.sights === undefined ? [] : before.sights[index];
    return earlier != null && (sight === null || lacks(sight, earlier));
  });
}

const lacks = (now: readonly string[], before: readonly string[]): boolean => before.some((one) => !now.includes(one));

/**
 * The caller's rights on some entities and on single records of them.
 * @param detailed entities of which the response shows more than ids, when it is noted
 */
async function rightsOf(
  scope: OperationScope,
  entities: Iterable<string>,
  shown: RecordIds = new Map(),
  counted: readonly string[] = [],
  detailed: ReadonlySet<string> = new Set(),
): Promise<Present> {
  const names = [...new Set(entities)].sort();
  const decided: unknown[] = [];
  const records: Record<string, readonly string[]> = {};
  const seen: unknown[] = [];
  const reaches: unknown[] = [];
  const details: Record<string, EntityDetails> = {};
  for (const name of names) {
    const { allowed, forSome, predicate, guard, reach } = await scope.access.readDecision(name);
    const { readable, readablePerRow } = scope.access.mask(name);
    const fields = { readable: [...readable].sort(), readablePerRow: [...(readablePerRow?.keys() ?? [])].sort() };
    decided.push(name, allowed, forSome, fields.readable, fields.readablePerRow);
    const ids = [...(shown.get(name) ?? [])].sort();
    const entity = scope.app.model.get(name);
    const isForeign = entity === undefined;
    if (!isForeign && ids.length > 0) records[name] = ids;
    const isAlike = allowed && predicate === undefined && guard === undefined && readablePerRow === undefined;
    const known = ids.filter((id) => id !== "");
    const sights = isForeign || isAlike ? undefined : await seenOf(scope, name, known);
    const foreign = isForeign ? exactly(predicate) : undefined;
    details[name] = { allowed, isForAll: forSome !== true, ...fields, sights, foreign };
    // Shown records are checked one by one, and counted records are not.
    const isCounted = counted.includes(name);
    if (!isForeign && (isCounted || ids.length === 0)) {
      reaches.push(name, reach ?? null);
      if (isCounted) reaches.push(predicate ?? null, await shownFields(scope, { name }));
      // Equal conditions may match different records over time, so the matches must be equal, too.
      const isNarrow = isCounted && (predicate !== undefined || guard !== undefined);
      if (isNarrow || looksAt(compileWhere(scope.app.model, entity, predicate)))
        reaches.push(await foundIn(scope, { name }));
    }
    if (isAlike) continue;
    // Records of another service cannot be read again, so their condition must stay equal. Guards and hidden ids cannot
    // be compared, so such a response is not repeated. Neither is one with a record that the caller cannot read when
    // the response is stored: it was deleted, or the right was lost.
    const isComparable = guard === undefined && readablePerRow === undefined && !ids.includes("");
    const isUnsure = ids.includes("") || (detailed.has(name) && sights?.includes(null));
    if (isForeign || isUnsure) decided.push(isForeign && isComparable ? foreign : randomUUID());
    if (isForeign || ids.length === 0) continue;
    seen.push(name, sights);
  }
  const digests = { digest: digestOf(decided), reach: digestOf(reaches) };
  const rights = {
    entities: names,
    ...digests,
    ...(counted.length > 0 && { counted }),
    ...(Object.keys(records).length > 0 && { records }),
    ...(seen.length > 0 && { seen: digestOf(seen) }),
  };
  return { rights, details };
}

/** A condition as text, with its dates. */
function exactly(condition: unknown): string | undefined {
  return JSON.stringify(condition, (_key, value) => (typeof value === "bigint" ? `${value}n` : value));
}

/** The visible fields of each record; null for records that may not be read or do not exist. */
async function seenOf(
  scope: OperationScope,
  entity: string,
  ids: readonly string[],
): Promise<(readonly string[] | null)[]> {
  const select = ["id", ...(scope.access.mask(entity).readablePerRow?.keys() ?? [])];
  const found = new Map<unknown, Row>();
  const find = async (input: OperationInput): Promise<void> => {
    for (const record of await readable(scope, input)) found.set(record.id, record);
  };
  for (let start = 0; start < ids.length; start += PORTION) {
    const portion = ids.slice(start, start + PORTION);
    const query = { where: { id: { in: portion } }, select, limit: portion.length };
    await find({ kind: "list", entity, query, bounded: true });
  }
  // Lists leave out records that a guard has to check.
  for (const id of ids) if (!found.has(id)) await find({ kind: "read", entity, id, query: { select }, ifFound: true });
  return Promise.all(
    ids.map(async (id) => {
      const record = found.get(id);
      return record === undefined ? null : Object.keys((await presentSettled(record, scope, false)) as Row).sort();
    }),
  );
}

/** Records of an entity, and the access and rules by which they are found unless the entity's rules for reading apply. */
export interface View extends Pick<RecordUse, "rules" | "deleted"> {
  readonly name: string;
  readonly access?: RecordUse["access"] | undefined;
}

/** Which records the caller may find, or how many if there are many; undefined when they may find none. */
export async function foundIn(
  scope: OperationScope,
  { name: entity, access, rules, deleted }: View,
  where?: Where,
): Promise<readonly string[] | number | undefined> {
  const asked = { entity, access, rules, bounded: true } as const;
  const sort = [{ field: "id", direction: "asc" }] as const;
  const query = { where, deleted, select: ["id"], sort, limit: PORTION };
  const found = await orRefused(() => scope.run({ ...asked, kind: "list", query }));
  if (found === undefined || found.records.length < PORTION) return found?.records.map(({ id }) => String(id));
  return (await orRefused(() => scope.run({ ...asked, kind: "count", query: { where, deleted } })))?.total;
}

/** For each field that depends on the record and can be filtered on: where it is shown, and on which records. */
async function shownFields(scope: OperationScope, view: View): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const [field, { predicate }] of fieldsToFilter(scope, view.name)) {
    // Without the operator, the records that show the field cannot be found, so the response is not repeated.
    const shown = isAskable(scope, view.name, field) ? await foundIn(scope, view, shows(field)) : randomUUID();
    found.push(field, predicate, shown);
  }
  return found;
}

/** The fields that depend on the record and can be filtered on, by name. */
function fieldsToFilter(scope: OperationScope, entity: string): readonly (readonly [string, RowAccess])[] {
  const { readablePerRow = new Map<string, RowAccess>(), filterable } = scope.access.mask(entity);
  return [...readablePerRow].filter(([field]) => filterable.has(field)).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Of these fields, those for which a condition finds the records that show them. */
export function askableFields(scope: OperationScope, entity: string): readonly string[] {
  return fieldsToFilter(scope, entity).flatMap(([field]) => (isAskable(scope, entity, field) ? [field] : []));
}

function isAskable({ app }: OperationScope, entity: string, field: string): boolean {
  return app.model.get(entity)?.columns[field]?.kind.operators.has("null") === true;
}

/** The condition that a field is shown. */
export const shows = (field: string): Where => ({ [field]: { null: false } });

async function readable(scope: OperationScope, input: OperationInput): Promise<readonly Row[]> {
  return (await orRefused(() => scope.run(input)))?.records ?? [];
}

async function orRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isKeelsonError(error) && REFUSALS.has(error.status)) return undefined;
    throw error;
  }
}

/** For each use, whether the caller has it now; for counts, also what they would count. */
async function usesNow(scope: OperationScope, uses: readonly Omit<KeptUse, "allowed">[]): Promise<readonly KeptUse[]> {
  const found: KeptUse[] = [];
  for (const { entity, id, kind, access, rules, forSome, counts, deleted } of uses) {
    const use = { entity, id, kind, access, rules, forSome, counts, deleted };
    const view = { name: entity, access, rules, deleted };
    const reach = counts && { reach: digestOf([await foundIn(scope, view), await shownFields(scope, view)]) };
    found.push({ ...use, allowed: await isUsable(scope, use), ...reach });
  }
  return found;
}
