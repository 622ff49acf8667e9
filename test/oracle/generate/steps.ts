/** Random steps in a world: mostly sensible, sometimes invalid. */
import { rowsOf, type World } from "../evaluate/world.ts";
import { COMPANIONS, type Feature, type Features } from "../features.ts";
import type { Call, Input, ListQuery, Model, Step, Surface } from "../model.ts";
import type { Random } from "../random.ts";
import { clientCall } from "../through-clients.ts";
import { aggregateFrom } from "./aggregates.ts";
import { batchStep, upsertStep } from "./combined.ts";
import { idsOf, type Making, principalsOf, someId } from "./making.ts";
import { nestedStep } from "./nested.ts";
import { inputOf, pathsOf, queryOf, shapeOf } from "./parts.ts";
import { cloneOf, raceOf, replayOf, waitOf } from "./races.ts";
import { readerFrom, reportFrom } from "./reports.ts";
import { unseenChange } from "./unseen.ts";

function callOf(making: Making): Call {
  const { random, world, entity } = making;
  const has = (name: string): boolean => (entity.actions as readonly string[]).includes(name);
  const id = (): string => someId(making, entity.name);
  const include = (): { include?: readonly string[] } =>
    random.chance(0.15) ? { include: pathsOf(making, entity, 2) } : {};
  const withInclude = (): { include?: readonly string[] } => {
    const chosen = include();
    return chosen.include?.length ? chosen : {};
  };
  const tableIsFull = rowsOf(world, entity.name).length > 14;
  const ids = (): string[] => [...random.some(idsOf(world, entity.name), 0.3), ...(random.chance(0.1) ? ["none"] : [])];
  const options: [number, () => Call | undefined][] = [
    [14, () => ({ do: "get", id: id(), query: shapeOf(making) })],
    [16, () => ({ do: "list", query: queryOf(making) })],
    [making.model.pageBytes === undefined ? 2 : 16, () => ({ do: "walk", query: pagesOf(making) })],
    [4, () => (has("count") ? { do: "count", query: onlyFilters(queryOf(making)) } : undefined)],
    [10, () => (making.features.has("queries") ? aggregateFrom(making, onlyFilters(queryOf(making))) : undefined)],
    [3, () => (has("exists") ? { do: "exists", id: id() } : undefined)],
    [
      3,
      () =>
        has("export")
          ? { do: "export", format: random.pick(["json", "ndjson", "csv"]), query: noPage(queryOf(making)) }
          : undefined,
    ],
    [tableIsFull ? 2 : 14, () => ({ do: "create", data: inputOf(making, true), ...withInclude() })],
    [18, () => ({ do: "update", id: id(), data: inputOf(making, false), ...withInclude() })],
    [tableIsFull ? 14 : 4, () => ({ do: "delete", id: id() })],
    [
      4,
      () =>
        has("bulkUpdate")
          ? { do: "bulkUpdate", ids: nonEmpty(ids()), data: withoutLinks(inputOf(making, false)) }
          : undefined,
    ],
    [2, () => (has("bulkDelete") ? { do: "bulkDelete", ids: nonEmpty(ids()) } : undefined)],
    [
      tableIsFull ? 0 : 3,
      () =>
        has("import")
          ? {
              do: "import",
              rows: Array.from({ length: 1 + random.below(3) }, () => withoutLinks(inputOf(making, true))),
            }
          : undefined,
    ],
    [tableIsFull ? 0 : 3, () => (has("clone") ? { do: "clone", id: id() } : undefined)],
    [3, () => (has("toggle") ? { do: "toggle", id: id() } : undefined)],
    [3, () => (has("archive") ? { do: random.pick(["archive", "unarchive"]), id: id() } : undefined)],
    [8, () => (making.features.has("handlers") ? reportFrom(making) : undefined)],
    [1, () => (making.features.has("documents") ? { do: "document", of: readerFrom(making) } : undefined)],
    [5, () => (has("softDelete") ? { do: random.pick(["softDelete", "restore"]), id: id() } : undefined)],
  ];
  const sum = options.reduce((total, [weight]) => total + weight, 0);
  for (;;) {
    let roll = random.below(sum);
    const chosen = options.find(([weight]) => (roll -= weight) < 0);
    const call = chosen?.[1]();
    if (call !== undefined) return call;
  }
}

function pagesOf(making: Making): ListQuery {
  const { page: _, ...query } = queryOf(making);
  return { ...query, limit: 1 + making.random.below(making.model.pageBytes === undefined ? 3 : 12) };
}
const nonEmpty = (ids: string[]): string[] => (ids.length === 0 ? ["none"] : ids);
const onlyFilters = ({ filters, where, q, deleted }: ListQuery): ListQuery => ({
  ...(filters && { filters }),
  ...(where && { where }),
  ...(q !== undefined && { q }),
  ...(deleted && { deleted }),
});
const noPage = (query: ListQuery): ListQuery => ({
  ...onlyFilters(query),
  ...(query.sort && !query.sort.some((key) => key.endsWith("_rank") || key.includes(".")) && { sort: query.sort }),
  ...(query.select && { select: query.select }),
});
const withoutLinks = (data: Input): Input =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => !Array.isArray(value))) as Input;

function surfaceOf(making: Making, call: Call): Surface {
  const { random, features, entity, by } = making;
  const roll = random.below(100);
  const isPlainWrite = call.do === "create" || call.do === "update" || call.do === "delete";
  if (features.has("steps") && isPlainWrite && !("include" in call) && roll < 25) return "steps";
  if (call.do === "report") return roll < 30 && by !== null ? "client" : "http";
  if (call.do === "document") return call.of === "system" || roll < 20 ? "client" : "http";
  if (roll >= 40 || clientCall(entity, call) === undefined) return "http";
  return by !== null && roll % 2 === 0 ? "client" : "handler";
}

/** Byte limits are tested separately. */
const besideBytes: readonly Feature[] = ["bytes", ...COMPANIONS];

export function makeStep(random: Random, all: Features, model: Model, world: World, at: number): Step {
  const uid = `s${at}`;
  const features = model.pageBytes === undefined ? all : new Set(besideBytes.filter((one) => all.has(one)));
  const making: Making = {
    random,
    features,
    model,
    world,
    entity: random.pick(model.entities),
    by: random.pick(principalsOf(features)),
  };
  if ((features.has("races") || features.has("conjunctions")) && random.chance(features.has("basics") ? 0.03 : 0.3)) {
    const race = raceOf(making, uid);
    if (race !== undefined) return race;
  }
  if (features.has("waits") && random.chance(features.has("basics") ? 0.03 : 0.3)) {
    const wait = (random.chance(0.3) ? cloneOf(making, uid) : undefined) ?? waitOf(making, uid);
    if (wait !== undefined) return wait;
  }
  if (features.has("replays") && random.chance(features.has("basics") ? 0.03 : 0.3)) {
    const replay = replayOf(making, uid);
    if (replay !== undefined) return replay;
  }
  if (features.has("nested") && random.chance(0.15)) return nestedStep(making, uid);
  if (features.has("combined") && random.chance(0.05)) return upsertStep(making, uid);
  if (features.has("combined") && random.chance(0.08)) return batchStep(making, uid);
  const call = callOf(making);
  const unseen =
    (features.has("queries") || features.has("bytes")) && random.chance(0.15) ? unseenChange(making, call) : undefined;
  return {
    ...(unseen && { unseen }),
    uid,
    by: making.by,
    on: making.entity.name,
    surface: surfaceOf(making, call),
    call,
  };
}
