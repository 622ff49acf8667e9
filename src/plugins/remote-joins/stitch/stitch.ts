import type { AnyEntity, ResolvedRelation } from "../../../entity/index.ts";
import type { IncludeTree, Row } from "../../../gate/index.ts";
import { type Breakers, createBreakers } from "./ask-batch.ts";
import { createAskService } from "./ask-service.ts";
import type { Answer } from "./check-records.ts";
import { createFailures, type Failures, RemoteFailure } from "./failures.ts";
import { type FetchPlan, planFetch } from "./fetch-plan.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import type { StitchContext } from "./stitch-context.ts";
import { createDeadline } from "./stitch-deadline.ts";

type Related = ReadonlyMap<string, Row>;

const NONE: Related = new Map();

/**
 * Adds the targets of remote relations under the relations' names; null for targets that are missing, hidden or could
 * not be fetched (spec 4.4). All relations run at once: keys are collected, fetched in batches, and matched by id.
 * @param include remote relations of the entity
 */
export async function stitchRecords(
  context: StitchContext,
  entity: AnyEntity,
  records: readonly Row[],
  include: IncludeTree,
): Promise<void> {
  if (records.length === 0) return;
  await Promise.all(
    Object.entries(include).map(async ([name, inner]) => {
      const relation = context.model.relation(entity, name);
      if (relation?.foreignKey === undefined) return;
      const key = relation.foreignKey;
      const related = await findRelated(context, relation, keysOf(records, key), inner);
      for (const record of records) record[name] = related.get(keyOf(record[key])) ?? null;
    }),
  );
}

async function findRelated(
  context: StitchContext,
  relation: ResolvedRelation,
  ids: readonly string[],
  inner: IncludeTree,
): Promise<Related> {
  if (ids.length === 0 || !context.viewer.sees(relation)) return NONE;
  const service = relation.remote?.service;
  if (service === undefined) return byId(await context.viewer.list(relation.target, ids, inner));
  const plan = await planFetch(context, relation.target, inner);
  if (plan === undefined) return NONE;
  const answers = await context.ask(context, service, plan, ids);
  return byId(await finish(context, plan, recordsAmong(context, relation, plan, answers)));
}

/** Copies the records among the results, and notes failures. */
function recordsAmong(
  { failures }: StitchContext,
  relation: ResolvedRelation,
  plan: FetchPlan,
  answers: readonly Answer[],
): Row[] {
  const rows: Row[] = [];
  for (const answer of answers) {
    if (answer instanceof RemoteFailure) failures.note(relation, answer);
    else if (answer !== null) rows.push(copyRecord(answer, plan));
  }
  return rows;
}

/** Reduces fetched records to those that the caller may see, level by level. */
async function finish(context: StitchContext, plan: FetchPlan, rows: readonly Row[]): Promise<readonly Row[]> {
  const admitted: Row[] = [];
  for (const row of rows) {
    const verdict = plan.rights.admit(row);
    const isAdmitted: boolean = typeof verdict === "boolean" ? verdict : await verdict;
    if (!isAdmitted) continue;
    // Access has been decided, so missing optional values can now be null.
    for (const name of plan.optional) row[name] ??= null;
    admitted.push(row);
  }
  for (const { name, many } of plan.closed) for (const row of admitted) row[name] = many ? [] : null;
  await Promise.all([
    stitchRecords(context, plan.entity, admitted, plan.here),
    ...plan.nested.map(({ relation, plan: inner }) => finishNested(context, relation, inner, admitted)),
  ]);
  return admitted;
}

/** Does the same for nested records of a relation. */
async function finishNested(
  context: StitchContext,
  relation: ResolvedRelation,
  plan: FetchPlan,
  parents: readonly Row[],
): Promise<void> {
  const { name, many } = relation;
  const rows = parents.flatMap((parent) => {
    const given = (many ? parent[name] : [parent[name]]) as readonly Answer[];
    for (const one of given) if (one instanceof RemoteFailure) context.failures.note(relation, one);
    return given.filter((one): one is Row => one !== null && !(one instanceof RemoteFailure));
  });
  const admitted = new Set<unknown>(await finish(context, plan, rows));
  for (const parent of parents) {
    const given = parent[name];
    if (many) parent[name] = (given as readonly unknown[]).filter((one) => admitted.has(one));
    else if (!admitted.has(given)) parent[name] = null;
  }
}

function keysOf(records: readonly Row[], key: string): string[] {
  const keys = new Set<string>();
  for (const record of records) {
    const value = keyOf(record[key]);
    if (value !== "") keys.add(value);
  }
  return [...keys];
}

/** A key as text; empty when the value is not an id. */
function keyOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function byId(rows: readonly Row[]): Related {
  return new Map(rows.map((row) => [row.id as string, row]));
}

/** Copies a record, because several callers may share the cached one. */
function copyRecord(record: Row, plan: FetchPlan): Row {
  const copy: Row = { ...record };
  for (let i = 0; i < plan.readers.length; i++) {
    const { name } = plan.readers[i] as FetchPlan["readers"][number];
    const value = copy[name];
    if (typeof value !== "object" || value === null) continue;
    copy[name] = value instanceof Date ? new Date(value) : structuredClone(value);
  }
  for (const { relation, plan: inner } of plan.nested) {
    const value = record[relation.name] as Answer | readonly Answer[];
    copy[relation.name] = isList(value) ? value.map((one) => copyAnswer(one, inner)) : copyAnswer(value, inner);
  }
  return copy;
}

/** Null and failures are shared, because they are never changed. */
function copyAnswer(answer: Answer, plan: FetchPlan): Answer {
  return answer === null || answer instanceof Error ? answer : copyRecord(answer, plan);
}

function isList(value: Answer | readonly Answer[]): value is readonly Answer[] {
  return Array.isArray(value);
}

/** The input of a stitch. */
interface StitchInput extends Pick<StitchContext, "model" | "services" | "viewer" | "caller" | "memo"> {
  readonly entity: AnyEntity;
  /** Relations are added to these objects in place. */
  readonly records: readonly Row[];
  /** The remote relations to join. */
  readonly include: IncludeTree;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal | undefined;
}

/** Joins within one deadline and returns the failures. Only rejects for errors of the app's own database or rules. */
export type Stitcher = (input: StitchInput) => Promise<Failures>;

/** Creates a stitcher for one app, with the state of its services. */
export function createStitcher(settings: JoinSettings, breakers: Breakers = createBreakers(settings)): Stitcher {
  const ask = createAskService(settings, breakers);
  return async ({ entity, records, include, signal, ...given }) => {
    const deadline = createDeadline(settings.timeout, signal);
    const failures = createFailures();
    const own = { settings, ask, deadline, failures, loaders: new Map() };
    try {
      await stitchRecords({ ...given, ...own }, entity, records, include);
    } catch (error) {
      deadline.abandon();
      throw error;
    }
    deadline.end();
    return failures;
  };
}
