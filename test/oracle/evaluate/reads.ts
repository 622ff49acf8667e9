/** The results of reads (http.md, “CRUD”; rules.md, “What the caller sees”). */
import type { Call, ListQuery } from "../model.ts";
import { includes, shownWith, treeOf } from "./includes.ts";
import { INVALID, missing, type Outcome, refused, refusedOne, type Setting } from "./outcome.ts";
import { deletedTest, find, isShape } from "./query.ts";
import { passes, reachOf } from "./rules.ts";
import { highlights, isSearch, isWordwise } from "./search.ts";
import { shown } from "./shown.ts";
import { isLive, rowOf } from "./world.ts";

type Of<D extends Call["do"]> = Extract<Call, { do: D }>;

/** Only a caller that may restore records may request deleted ones. */
function mayAskDeleted({ entity, by }: Setting, deleted: ListQuery["deleted"]): boolean {
  if (deleted === undefined || entity.softDelete === undefined) return true;
  return reachOf(entity, entity.rules.update, by, "list") !== "none";
}

export function get(setting: Setting, { id, query }: Of<"get">): Outcome[] {
  const { model, world, entity, by } = setting;
  const reach = reachOf(entity, entity.rules.read, by, "stored");
  if (reach === "none") return [refusedOne(setting)];
  const wrong: Outcome[] = [];
  const test = deletedTest(setting, entity, query.deleted);
  if (!isShape(setting, entity, query) || test === undefined) wrong.push(INVALID);
  if (!mayAskDeleted(setting, query.deleted)) wrong.push(refused(by), refusedOne(setting));
  const row = rowOf(world, entity.name, id);
  if (row === undefined || test?.(row) === false) return [missing(setting, reach), ...wrong];
  if (!passes(model, world, entity, row, entity.rules.read, by, "stored")) return [refusedOne(setting), ...wrong];
  if (wrong.length > 0) return wrong;
  return [
    { status: 200, body: shownWith(setting, entity, row, treeOf(query.include), query.select) },
    ...lateRefusals(setting, query),
  ];
}

/** In-process clients refuse the options of an include only when there are records to include. */
const lateRefusals = (setting: Setting, query: ListQuery): Outcome[] =>
  includes(setting, setting.entity, treeOf(query.include)) ? [] : [INVALID];

/** The result of a caller's list, or its refusal. */
export function found(setting: Setting, query: ListQuery, isList = false): ReturnType<typeof find> | Outcome[] {
  const { entity, by } = setting;
  if (reachOf(entity, entity.rules.read, by, "list") === "none") return [refused(by)];
  const rows = find(setting, entity, query, isList);
  if (!mayAskDeleted(setting, query.deleted)) return rows === undefined ? [INVALID, refused(by)] : [refused(by)];
  return rows ?? [INVALID];
}
export const isRefused = (rows: unknown): rows is Outcome[] =>
  Array.isArray(rows) && rows.length > 0 && typeof rows[0] === "object" && "status" in rows[0] && !("id" in rows[0]);

export function list(setting: Setting, { query }: Of<"list">): Outcome[] {
  const rows = found(setting, query, true);
  if (isRefused(rows)) return rows;
  const all = (rows ?? []).map((row) => ({
    ...shownWith(setting, setting.entity, row, treeOf(query.include), query.select),
    ...(query.highlight &&
      isSearch(query) &&
      isWordwise(setting.entity) && { _highlights: highlights(setting, setting.entity, query, row) }),
  }));
  const limit = query.limit ?? 100;
  const start = ((query.page ?? 1) - 1) * limit;
  return [{ status: 200, body: all.slice(start, start + limit), total: all.length }, ...lateRefusals(setting, query)];
}

/** All pages, each requested with the cursor of the page before. */
export function walk(setting: Setting, { query }: Of<"walk">): Outcome[] {
  const [all] = list(setting, { do: "list", query: { ...query, page: 1, limit: 1000 } });
  return all === undefined ? [] : [{ status: all.status, body: all.body }];
}

export function count(setting: Setting, { query }: Of<"count">): Outcome[] {
  const rows = found(setting, query);
  return isRefused(rows) ? rows : [{ status: 200, body: { count: rows?.length ?? 0 } }];
}

export function exported(setting: Setting, { query }: Of<"export">): Outcome[] {
  const rows = found(setting, query);
  if (isRefused(rows)) return rows;
  return [{ status: 200, body: (rows ?? []).map((row) => shown(setting, setting.entity, row, query.select)) }];
}

export function exists(setting: Setting, { id }: Of<"exists">): Outcome[] {
  const { model, world, entity, by } = setting;
  if (reachOf(entity, entity.rules.read, by, "stored") === "none") return [refusedOne(setting)];
  const row = rowOf(world, entity.name, id);
  const is = row !== undefined && isLive(entity, row);
  return [{ status: 200, body: { exists: is && passes(model, world, entity, row, entity.rules.read, by, "stored") } }];
}
