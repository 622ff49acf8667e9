import type { AnyEntity, RouteListing } from "../../../src/index.ts";
import { amount, oneOf } from "../suite.ts";
import { canariesFor, clientsOf, MENTORS, type ProtectedApp } from "./app.ts";
import { type Canaries, protectedFields } from "./canaries.ts";
import { CALLERS, type CallerName, type Facts, USERS } from "./truth.ts";

/** A request to send as a given caller. */
export interface RouteCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** What requests are built from. */
export interface World {
  readonly app: ProtectedApp;
  readonly canaries: Canaries;
  readonly caller: CallerName;
}

type Recipe = (route: RouteListing, world: World) => AsyncIterable<RouteCall> | Iterable<RouteCall>;

/** How to call a route. A route without a recipe is not tested for leaks. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  "crud list": listCalls,
  "crud read": readCalls,
  "crud create": createCalls,
  "crud update": updateCalls,
  "crud delete": deleteCalls,
  "crud aggregate": aggregateCalls,
  "crud upsert": upsertCalls,
  "batch batch": batchCalls,
  "health live": plainCall,
  "health ready": plainCall,
  "openapi document": plainCall,
  "openapi docs": plainCall,
  "openapi docs-file": plainCall,
  ...Object.fromEntries(
    ["find", "one", "stream", "transaction", "written", "operation", "nested", "selected", "service", "text"].map(
      (name) => [`raw ${name}`, plainCall],
    ),
  ),
};

/** Every way to call a route; undefined when there is no recipe. */
export function callsOf(route: RouteListing, world: World): ReturnType<Recipe> | undefined {
  return RECIPES[`${route.plugin} ${route.action}`]?.(route, world);
}

function* plainCall({ method, path }: RouteListing): Iterable<RouteCall> {
  for (const verb of [method, "HEAD", "OPTIONS", "PUT"]) yield { method: verb, path };
}

function entityOf({ entity }: RouteListing, { app }: World): AnyEntity {
  return (app.api.entities as Readonly<Record<string, AnyEntity>>)[String(entity)] as AnyEntity;
}

/** All relation paths up to a depth. */
export function includePaths(app: ProtectedApp, entity: AnyEntity, depth: number): string[] {
  return Object.keys(entity.relations).flatMap((name) => {
    const further = depth === 1 ? [] : includePaths(app, targetOf(app, entity, name), depth - 1);
    return [name, ...further.map((path) => `${name}.${path}`)];
  });
}

function targetOf(app: ProtectedApp, entity: AnyEntity, relation: string): AnyEntity {
  const target = entity.relations[relation]?.target?.() ?? entity;
  const { name } = "build" in target ? target.build() : target;
  return (app.api.entities as Readonly<Record<string, AnyEntity>>)[name] as AnyEntity;
}

function* listCalls(route: RouteListing, world: World): Iterable<RouteCall> {
  const { app, canaries } = world;
  const { path } = route;
  const entity = entityOf(route, world);
  const get = (query: string): RouteCall => ({ method: "GET", path: `${path}?${query}` });
  yield { method: "GET", path };
  yield { method: "HEAD", path };
  yield { method: "OPTIONS", path };
  for (const include of includePaths(app, entity, amount(2, 3))) yield get(`include=${include}`);
  for (const [turn, name] of [...Object.keys(entity.columns), ...Object.keys(entity.relations)].entries()) {
    yield get(`select=${name}`);
    for (const key of oneOf(turn, [name, `-${name}`])) yield get(`_sort=${key}&_limit=1`);
  }
  yield get("q=cnry");
  for (const path of ["", ...includePaths(app, entity, 1)]) {
    const target = path === "" ? entity : targetOf(app, entity, path);
    for (const [turn, field] of protectedFields(target).entries()) {
      const canary = canaries.all.find((one) => one.entity === target.name && one.field === field);
      for (const name of oneOf(turn + path.length, [field, `${field}_like`, `${field}Bidx`]))
        yield get(`${path === "" ? "" : `${path}.`}${name}=${canary?.text}`);
    }
  }
}

/** Every aggregate of a field, and conditions on it in every form. */
function* aggregateCalls(route: RouteListing, world: World): Iterable<RouteCall> {
  const entity = entityOf(route, world);
  const get = (query: string): RouteCall => ({ method: "GET", path: `${route.path}?${query}` });
  yield get("count");
  for (const [turn, name] of [...Object.keys(entity.columns), ...Object.keys(entity.relations)].entries()) {
    for (const measure of oneOf(turn, ["sum", "avg", "min", "max"])) yield get(`${measure}=${name}`);
    for (const group of oneOf(turn, [name, `month(${name})`])) yield get(`count&group=${group}`);
    const having = encodeURIComponent(JSON.stringify({ [`max.${name}`]: { gte: 0 } }));
    yield get(`max=${name}&having=${having}&_sort=-max.${name}`);
  }
  for (const field of protectedFields(entity)) {
    const canary = world.canaries.all.find((one) => one.entity === entity.name && one.field === field);
    yield get(`count&_where=${encodeURIComponent(JSON.stringify({ or: [{ [field]: canary?.text }] }))}`);
  }
}

async function* upsertCalls(route: RouteListing, world: World): AsyncIterable<RouteCall> {
  const entity = entityOf(route, world);
  const { data } = await newRecord(entity, world);
  for (const name of ["", ...Object.keys(entity.columns)])
    yield { method: "PUT", path: `${route.path}?_on=${name}`, body: data };
}

async function* batchCalls(route: RouteListing, world: World): AsyncIterable<RouteCall> {
  for (const entity of Object.values(world.app.api.entities) as AnyEntity[]) {
    const path = world.app.api.routes.find((one) => one.entity === entity.name && one.action === "list")?.path;
    if (path === undefined) continue;
    const { data } = await newRecord(entity, world);
    const create = { method: "POST", path: path.slice("/api".length), body: data };
    yield { method: "POST", path: route.path, body: [create] };
    yield { method: "POST", path: route.path, body: [create, { ...create, body: { ...data, unknown: "$0.id" } }] };
    for (const field of protectedFields(entity))
      yield { method: "POST", path: route.path, body: [create, { ...create, path: `${create.path}/$0.${field}` }] };
  }
}

function* readCalls(route: RouteListing, world: World): Iterable<RouteCall> {
  const { app, caller } = world;
  const entity = entityOf(route, world);
  const prefix = entity.name === "person" ? "" : `${entity.name}-`;
  const foreign = USERS.find((id) => id !== caller);
  const at = (id: string): string => route.path.replace(":id", `${prefix}${id}`);
  for (const id of [...USERS, "missing"]) {
    yield { method: "GET", path: at(id) };
    yield { method: "HEAD", path: at(id) };
    for (const include of includePaths(app, entity, 1)) yield { method: "GET", path: `${at(id)}?include=${include}` };
  }
  for (const include of includePaths(app, entity, 2))
    yield { method: "GET", path: `${at(String(foreign))}?include=${include}` };
  for (const name of Object.keys(entity.columns)) yield { method: "GET", path: `${at(String(caller))}?select=${name}` };
}

/** The values of a new record, including those that its rules depend on. */
async function newRecord(
  entity: AnyEntity,
  { app, canaries, caller }: World,
): Promise<{ readonly facts: Facts; readonly data: Record<string, unknown> }> {
  const facts: Facts =
    entity.name === "note"
      ? { owner: CALLERS[caller]?.id ?? "ann", viewers: ["bob"] }
      : { mentor: entity.name === "person" ? "ann" : undefined };
  const data = canariesFor(canaries, entity, facts);
  for (const [name, { type, optional }] of Object.entries(entity.relations)) {
    if (type !== "belongsTo" || optional || entity.ownedBy === name) continue;
    data[`${name}Id`] = (await newStored(app.api.entities.person, { app, canaries, caller })).id;
  }
  if (entity.name === "person") return { facts, data: { ...data, name: "new", mentor: "ann" } };
  return { facts, data: entity.name === "note" ? { ...data, title: "new", viewersIds: ["bob"] } : data };
}

/** The same, stored. */
async function newStored(entity: AnyEntity, world: World): Promise<{ readonly id: string; readonly facts: Facts }> {
  const { data, facts } = await newRecord(entity, world);
  const owner = facts.owner === undefined ? {} : { authorId: facts.owner };
  const created = await clientsOf(world.app, "system")[entity.name]?.create({ ...data, ...owner });
  return { id: String((created as { id?: unknown }).id), facts };
}

/** Values that a field refuses, each with a canary in it. */
function wrongValues(entity: AnyEntity, field: string, { canaries }: World, facts: Facts): unknown[] {
  const fresh = (): string => {
    const value = canaries.valueFor(entity, field, facts);
    return value instanceof Date ? value.toISOString() : JSON.stringify(value).replace(/[^\w-]/g, "");
  };
  let deep: unknown = fresh();
  for (let i = 0; i < 30; i++) deep = [deep];
  return [`${fresh()}\u0000`, `${fresh()}${"é".repeat(600)}`, { set: fresh() }, [fresh()], fresh(), deep, null];
}

/** Invalid bodies. */
function* wrongBodies(entity: AnyEntity, world: World, facts: Facts, base: object): Iterable<unknown> {
  const turn = Object.keys(CALLERS).indexOf(world.caller);
  for (const [index, field] of protectedFields(entity).entries())
    for (const value of oneOf(index + turn, wrongValues(entity, field, world, facts)))
      yield { ...base, [field]: value };
  const taken = world.canaries.all.find(({ entity: of, field }) => of === "person" && field === "ssn");
  if (entity.name === "person") yield { ...base, ssn: taken?.text };
  for (const name of Object.keys(entity.relations)) yield { ...base, [name]: { id: taken?.text } };
}

async function* createCalls(route: RouteListing, world: World): AsyncIterable<RouteCall> {
  const { method, path } = route;
  const entity = entityOf(route, world);
  const include = Object.keys(entity.relations).join();
  yield { method, path, body: (await newRecord(entity, world)).data };
  yield { method, path: `${path}?include=${include}`, body: (await newRecord(entity, world)).data };
  const { data, facts } = await newRecord(entity, world);
  // A field that the caller may not write makes the whole body invalid.
  const base = Object.fromEntries(Object.entries(data).filter(([name]) => entity.fields[name]?.writable === undefined));
  yield { method, path, body: base };
  for (const body of wrongBodies(entity, world, facts, base)) yield { method, path, body };
}

async function* updateCalls(route: RouteListing, world: World): AsyncIterable<RouteCall> {
  const { method } = route;
  const entity = entityOf(route, world);
  const include = Object.keys(entity.relations).join();
  const { id, facts } = await newStored(entity, world);
  const path = route.path.replace(":id", id);
  yield { method, path, body: {} };
  for (const name of protectedFields(entity))
    yield { method, path, body: { [name]: world.canaries.valueFor(entity, name, facts) } };
  yield { method, path: `${path}?include=${include}`, body: canariesFor(world.canaries, entity, facts) };
  for (const body of wrongBodies(entity, world, facts, {})) yield { method, path, body };
  // A user may change only their own account.
  if (entity.name !== "person" || world.caller === "anonymous") return;
  const own = route.path.replace(":id", world.caller);
  yield { method, path: `${own}?include=${include}`, body: { name: `${world.caller} anew` } };
  const ownFacts = { owner: world.caller, mentor: MENTORS[world.caller] };
  for (const body of wrongBodies(entity, world, ownFacts, {})) yield { method, path: own, body };
}

async function* deleteCalls(route: RouteListing, world: World): AsyncIterable<RouteCall> {
  const { id } = await newStored(entityOf(route, world), world);
  const path = route.path.replace(":id", id);
  for (let i = 0; i < 2; i++) yield { method: route.method, path };
}
