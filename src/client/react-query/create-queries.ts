import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";
import { isOperator } from "../../entity/kinds/operators.ts";
import { byName } from "../by-name.ts";
import type { CallOptions, TypedApp } from "../client-options.ts";
import type { Client } from "../create-client.ts";
import { isObject } from "../serialize-list-query.ts";
import type { Queries } from "./queries.ts";

/** The options of `createQueries`. */
export interface QueriesOptions {
  /**
   * The first part of all keys, for pages that call several APIs with one query client.
   * @default "keelson"
   */
  readonly key?: string | undefined;
}

/**
 * Makes options for TanStack Query from every call of a typed client. Keys begin with the API's key and the name of the
 * entity; a mutation invalidates the queries of its entity.
 * @example
 * const shop = createQueries(createClient<typeof api>({ baseUrl: "/api" }))
 * const { data } = useQuery(shop.post.list.queryOptions({ include: ["author"], limit: 20 }))
 * const rename = useMutation(shop.post.update.mutationOptions())
 * rename.mutate({ id, data: { title } })
 */
export function createQueries<TApi extends TypedApp>(
  client: Client<TApi>,
  { key = "keelson" }: QueriesOptions = {},
): Queries<TApi> {
  const clients = client as Readonly<Record<string, Readonly<Record<string, Call>>>>;
  const queries = byName((entity) =>
    byName(
      (name) => createCall((clients[entity] as Readonly<Record<string, Call>>)[name] as Call, [key, entity, name]),
      {
        queryKey: () => [key, entity],
      },
    ),
  );
  // The names exist in the types only.
  return queries as Queries<TApi>;
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;
type Place = readonly [key: string, entity: string, name: string];

interface Page {
  readonly nextCursor: string | null;
}

/** The variables of a mutation: a record's id, its data or an action's input, and options. */
interface Variables {
  readonly id?: string;
  readonly data?: unknown;
  readonly input?: unknown;
  readonly options?: CallOptions;
}

interface Settings {
  readonly invalidates?: readonly string[] | false;
  readonly onSuccess?: (...args: readonly unknown[]) => unknown;
}

/** Makes the query and mutation options of a call. */
function createCall(call: Call, place: Place): object {
  const keyOf = (args: readonly unknown[]): QueryKey => [
    ...place,
    ...args.filter((argument) => argument !== undefined),
  ];
  return Object.freeze({
    queryKey: (...args: readonly unknown[]) => keyOf(args),
    queryOptions: (...args: readonly unknown[]) => ({
      queryKey: keyOf(args),
      queryFn: ({ signal }: Signalled) => call(...argumentsOf(args), { signal }),
    }),
    infiniteQueryOptions: (query: object = {}) => ({
      queryKey: [place[0], place[1], "pages", query],
      queryFn: ({ signal, pageParam }: Signalled & { readonly pageParam: string | null }) =>
        call(pageParam === null ? query : { ...query, after: pageParam }, { signal }),
      initialPageParam: null,
      getNextPageParam: ({ nextCursor }: Page) => nextCursor,
    }),
    mutationOptions: ({ invalidates = [place[1]], onSuccess, ...settings }: Settings = {}) => ({
      ...settings,
      mutationKey: [...place],
      mutationFn: (variables: Variables | undefined) => call(...variablesOf(place[2], variables)),
      async onSuccess(...args: readonly unknown[]) {
        await onSuccess?.(...args);
        const { client } = args.at(-1) as { readonly client: QueryClient };
        if (invalidates !== false)
          await client.invalidateQueries({ predicate: (query) => isStale(query, place[0], invalidates) });
      },
    }),
  });
}

interface Signalled {
  readonly signal: AbortSignal;
}

/** Puts arguments in order, so that options come last: only a record's id is a text. */
function argumentsOf([first, second]: readonly unknown[]): readonly unknown[] {
  return typeof first === "string" ? [first, second] : [first];
}

function variablesOf(name: string, { id, data, input, options }: Variables = {}): readonly unknown[] {
  const sent = name === "delete" ? [] : [data ?? input];
  return [...(id === undefined ? [] : [id]), ...sent, options];
}

/** Whether a query is for one of the entities, or uses related records, which may belong to them. */
function isStale({ queryKey: [key, entity, , ...args] }: Query, ownKey: string, names: readonly string[]): boolean {
  return key === ownKey && (names.includes(entity as string) || args.some(looksAtOthers));
}

function looksAtOthers(argument: unknown): boolean {
  if (!isObject(argument)) return false;
  const { include, where = argument } = argument;
  return include !== undefined || namesRelation(where);
}

const LOGIC = /^(?:and|or|not)$/i;

/** Whether conditions use more than a record's own fields; ambiguous names count as relations. */
function namesRelation(where: unknown): boolean {
  if (!isObject(where)) return false;
  return Object.entries(where).some(([name, value]) =>
    LOGIC.test(name) ? [value].flat().some(namesRelation) : isObject(value) && !Object.keys(value).every(isOperator),
  );
}
