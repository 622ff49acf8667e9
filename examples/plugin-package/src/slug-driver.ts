import { ConflictError, type Driver, type Middleware, type Row, type Update, withMiddleware } from "keelson/plugin";
import { freeSlugs } from "./free-slugs.ts";
import { isPending } from "./slug.ts";
import type { SlugPlan, SlugPlans } from "./slug-plan.ts";
import { slugText } from "./slug-text.ts";

/** Attempts of a write, or a transaction, when another one takes the slug first. */
const ATTEMPTS = 6;

/** Conflicts about a generated slug, which another slug resolves. */
const lost = new WeakSet<object>();

/**
 * A driver that generates slugs for stored records. All writes go through it: operations, imports, handlers, workflows.
 * If a slug is taken between the check and the write, another one is generated. In a transaction, the whole transaction
 * starts again, because a database such as PostgreSQL aborts a transaction in which a statement failed.
 */
export function slugDriver(outside: Driver, plans: SlugPlans): Driver {
  return withMiddleware(outside, makeSlugs(plans, undefined), {
    transaction: (work, options) =>
      again((attempt) =>
        outside.transaction((inner) => work(withMiddleware(inner, makeSlugs(plans, attempt)).execute), options),
      ),
  });
}

/** @param inTransaction earlier attempts of the transaction; undefined outside of one */
function makeSlugs(plans: SlugPlans, inTransaction: number | undefined): Middleware {
  /** Runs a write that needs a new slug. */
  async function write<T>({ field }: SlugPlan, statement: (attempt: number) => Promise<T>): Promise<T> {
    const marked = async (attempt: number): Promise<T> => {
      try {
        return await statement(attempt);
      } catch (error) {
        if (error instanceof ConflictError && error.fields.includes(field)) lost.add(error);
        throw error;
      }
    };
    return inTransaction === undefined ? again(marked) : marked(inTransaction);
  }

  return async (statement, next, inner) => {
    if (statement.kind !== "insert" && statement.kind !== "update") return next(statement);
    const plan = plans.get(statement.entity.name);
    if (plan === undefined) return next(statement);
    if (statement.kind === "insert")
      return write(plan, async (attempt) =>
        next({ ...statement, rows: await named(inner, plan, statement.rows, attempt) }),
      );
    if (!renames(plan, statement.data)) return next(statement);
    if (statement.returning === true)
      return write(plan, async (attempt) => {
        const slug = await renamed(inner, plan, statement, attempt);
        return next(slug === undefined ? statement : { ...statement, data: { ...statement.data, [plan.field]: slug } });
      });
    // Each record needs a slug of its own.
    const { entity, where, data } = statement;
    const each = async (driver: Driver): Promise<number> => {
      let count = 0;
      for (const { id } of await driver.findMany(entity, { where, select: ["id"] }))
        if ((await driver.update(entity, { AND: [where, { id }] }, data)) !== null) count += 1;
      return count;
    };
    const count =
      inTransaction === undefined
        ? await slugDriver(inner, plans).transaction(each)
        : await each(withMiddleware(inner, makeSlugs(plans, inTransaction)));
    return { count, rows: [] };
  };
}

/** The preferred slug of a new record. */
function wishOf({ field, from, style }: SlugPlan, row: Row): string {
  const given = row[field];
  return typeof given === "string" && !isPending(given) ? given : slugText(String(row[from] ?? ""), style);
}

async function named(inner: Driver, plan: SlugPlan, rows: readonly Row[], attempt: number): Promise<Row[]> {
  const waiting = rows.filter((row) => row[plan.field] !== null);
  const wishes = waiting.map((row) => wishOf(plan, row));
  const slugs = await freeSlugs(inner, plan, wishes, attempt);
  const bySlug = new Map(waiting.map((row, i) => [row, slugs[i]]));
  return rows.map((row) => (bySlug.has(row) ? { ...row, [plan.field]: bySlug.get(row) } : row));
}

/** The new slug of a changed record; undefined if it keeps its slug. */
async function renamed(
  inner: Driver,
  plan: SlugPlan,
  { where, data }: Update,
  attempt: number,
): Promise<string | undefined> {
  const { entity, field, from, style } = plan;
  const current = await inner.findOne(entity, where, { select: [from, field] });
  if (current === null) return undefined;
  const before = slugText(String(current[from] ?? ""), style);
  const after = slugText(String(data[from] ?? current[from] ?? ""), style);
  if (before === after && !isPending(data[field])) return undefined;
  if (current[field] === after) return after; // it is taken, but by this record
  return (await freeSlugs(inner, plan, [after], attempt))[0];
}

function renames({ field, from, follow }: SlugPlan, data: Row): boolean {
  return isPending(data[field]) || (follow && data[field] === undefined && typeof data[from] === "string");
}

/** Retries while a taken slug is the only conflict. */
async function again<T>(work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt + 1 === ATTEMPTS || !isLost(error)) throw error;
    }
  }
}

/** The gate may have wrapped the conflict in its own. */
function isLost(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (lost.has(at)) return true;
  return false;
}
