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
 * Adds the records that remote relations lead to, under the relations' names; null for those that are missing, hidden or
 * could not be fetched (spec 4.4). All relations at once: keys are collected, batched, fetched, and matched by id.
 * @param include relations of the entity that are joined here
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

/** Copies of the records among answers; what failed is noted. */
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

/** From what a service gave to what the caller may see of it, level by level. */
async function finish(context: StitchContext, plan: FetchPlan, rows: readonly Row[]): Promise<readonly Row[]> {
  const admitted: Row[] = [];
  for (const row of rows) {
    const verdict = plan.rights.admit(row);
    const isAdmitted: boolean = typeof verdict === "boolean" ? verdict : await verdict;
    if (!isAdmitted) continue;
    // Now that it is decided who sees the record, what was not sent is empty.
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

/** The same for what came along under a relation. */
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

/** A copy of a record, for each caller of several that are given the same one. */
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

/** What a stitch is about, and on whose behalf it is done. */
interface StitchInput extends Pick<StitchContext, "model" | "services" | "viewer" | "caller" | "memo"> {
  readonly entity: AnyEntity;
  /** Relations are added to these very objects. */
  readonly records: readonly Row[];
  /** Relations that are remote. */
  readonly include: IncludeTree;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal | undefined;
}

/** Joins within one deadline; what failed comes back. It rejects only for what the app's own database or rules throw. */
export type Stitcher = (input: StitchInput) => Promise<Failures>;

/** A stitcher for one app, with what it learns about its services. */
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
