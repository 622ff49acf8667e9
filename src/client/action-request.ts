import { badCall } from "./bad-call.ts";
import type { CallOptions } from "./client-options.ts";
import type { ActionRoute } from "./client-routes.ts";
import type { Outgoing } from "./create-sender.ts";
import { encode } from "./encode.ts";
import { segmentOf } from "./segment-of.ts";
import { type ListQuery, serializeListQuery } from "./serialize-list-query.ts";

type Pairs = readonly (readonly [name: string, value: unknown])[];
type Sent = Pick<Outgoing, "search" | "body">;

/**
 * The request of an action's call: the id first if it is about a record, then input and query in one object, then options.
 * @param route undefined when nobody told the client where the action is
 */
export async function actionRequest(
  collection: string,
  name: string,
  route: ActionRoute | undefined,
  args: readonly unknown[],
): Promise<Outgoing> {
  const onResource = route === undefined ? typeof args[0] === "string" : /^\/:id(?:\/|$)/.test(route.path);
  const { method, path, ...reads } = route ?? { method: "POST", path: `${onResource ? "/:id" : ""}/${name}` };
  if ((onResource ? path.slice(1) : path).includes("/:"))
    throw badCall(`${name} has parameters in its path that a call cannot give`);
  const [given, options] = (onResource ? args.slice(1) : args) as [unknown, CallOptions | undefined];
  const below = onResource ? path.replace("/:id", () => segmentOf(args[0])) : path;
  const sent = await sentWith(method, reads, given);
  return { method, path: collection + below, ...sent, options, isAssumed: route === undefined };
}

/** Where what is given goes: as it does in the process, so that what is in neither is refused there. */
async function sentWith(
  method: string,
  { query, input, filters }: Omit<ActionRoute, "method" | "path">,
  given: unknown,
): Promise<Sent> {
  if (filters === true) return { search: serializeListQuery((given ?? {}) as ListQuery) };
  const values = Object.entries((given ?? {}) as object);
  if (query === undefined && input === undefined)
    return method === "GET" ? { search: searchOf(values) } : { body: await gathered(given) };
  const forQuery = (name: string): boolean => query?.includes(name) === true || input === undefined;
  const forInput = (name: string): boolean => input?.includes(name) === true || !forQuery(name);
  const search = searchOf(values.filter(([name]) => forQuery(name)));
  if (input === undefined) return { search };
  return { search, body: Object.fromEntries(values.filter(([name]) => forInput(name))) };
}

/** Rows may be given one after the other; JSON has them all at once. */
async function gathered(given: unknown): Promise<unknown> {
  if (typeof given !== "object" || given === null) return given;
  if (!(Symbol.iterator in given || Symbol.asyncIterator in given)) return given;
  const rows: unknown[] = [];
  for await (const row of given as AsyncIterable<unknown>) rows.push(row);
  return rows;
}

/** What is null is left out: that is how a parameter says it. */
function searchOf(values: Pairs): string {
  const pairs = values.flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]));
  return pairs
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${encode(name)}=${encode(parameter(value))}`)
    .join("&");
}

function parameter(value: unknown): string {
  if (!(value instanceof Date)) return typeof value === "object" ? JSON.stringify(value) : String(value);
  if (Number.isNaN(value.getTime())) throw badCall("A date is not valid");
  return value.toISOString();
}
