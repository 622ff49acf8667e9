// `POST /graphql` over the entities of the app, served by GraphQL Yoga. Records are read and written with the caller's
// client, so rules, masks and limits are those of the REST API; relations become its batched includes.
import {
  GraphQLBoolean,
  GraphQLError,
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  type SelectionSetNode,
} from "graphql";
import { createYoga } from "graphql-yoga";
import { type AnyEntity, createPluginFactory, endpoint, type PluginContext, routeSegment } from "keelson/plugin";
import { z } from "zod";

type Model = PluginContext["entities"];
interface Context extends Record<string, unknown> {
  readonly clients: ReturnType<PluginContext["clientFor"]>;
}
type Field = GraphQLFieldConfig<Record<string, unknown>, Context>;

/** The body of a request (GraphQL over HTTP). */
const sent = z.object({
  query: z.string().max(20_000),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});
// Keelson has limited the body; Yoga's own limit would copy it through another stream.
const yogaOf = (model: Model) =>
  createYoga<Context>({ schema: schemaOf(model), landingPage: false, logging: false, maxRequestBodySize: false });
interface State {
  readonly yoga: ReturnType<typeof yogaOf>;
  readonly clientFor: PluginContext["clientFor"];
}

export const graphql = createPluginFactory(() => ({
  id: "example/graphql",
  setup: ({ entities, clientFor }): State => ({ yoga: yogaOf(entities), clientFor }),
  endpoints: {
    graphql: endpoint<State, Readonly<Record<string, string>>, typeof sent>("/graphql", {
      method: "POST",
      rules: ["everyone"], // each record has the rules of its entity
      body: sent,
      async handler({ scope, body }, { yoga, clientFor }) {
        const headers = { "content-type": "application/json", accept: "application/json" };
        const init = { method: "POST", headers, body: JSON.stringify(await body()) };
        return yoga.fetch("http://graphql.invalid/graphql", init, { clients: clientFor(scope) });
      },
    }),
  },
}));

const Json = new GraphQLScalarType({ name: "JSON", description: "Any JSON value" });
const SCALARS: Readonly<Record<string, GraphQLScalarType>> = {
  Int: GraphQLInt,
  Float: GraphQLFloat,
  Boolean: GraphQLBoolean,
  Json,
};
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const plural = (entity: AnyEntity): string =>
  routeSegment(entity).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

function schemaOf(model: Model): GraphQLSchema {
  const entities = model.entities.filter(({ internal }) => !internal);
  const types = new Map<string, GraphQLObjectType>();
  for (const entity of entities) {
    const fields = (): Record<string, Field> => ({ ...columnFields(entity), ...relationFields(model, entity, types) });
    types.set(entity.name, new GraphQLObjectType({ name: capital(entity.name), fields }));
  }
  const all = (make: (entity: AnyEntity, type: GraphQLObjectType) => Record<string, Field>): Record<string, Field> =>
    Object.assign({}, ...entities.map((entity) => make(entity, types.get(entity.name) as GraphQLObjectType)));
  return new GraphQLSchema({
    query: new GraphQLObjectType({ name: "Query", fields: all((entity, type) => reads(model, entity, type)) }),
    mutation: new GraphQLObjectType({ name: "Mutation", fields: all(writes) }),
  });
}

/** Every field may be null, because fields that a caller may not read are absent. */
function columnFields({ columns, hidden }: AnyEntity): Record<string, Field> {
  const shown = Object.values(columns).filter(({ name }) => !hidden.includes(name));
  return Object.fromEntries(
    shown.map(({ name, role, kind }) => [
      name,
      {
        type: role === "id" ? new GraphQLNonNull(GraphQLID) : (SCALARS[kind.column.scalar] ?? GraphQLString),
        resolve: ({ [name]: value }) => (value instanceof Date ? value.toISOString() : value),
      },
    ]),
  );
}

function relationFields(model: Model, entity: AnyEntity, types: ReadonlyMap<string, GraphQLObjectType>) {
  const fields = model.relationsOf(entity).flatMap(({ name, target, many }): [string, Field][] => {
    const type = types.get(target.name);
    return type === undefined ? [] : [[name, { type: many ? new GraphQLList(type) : type }]];
  });
  return Object.fromEntries(fields);
}

function reads(model: Model, entity: AnyEntity, type: GraphQLObjectType): Record<string, Field> {
  const include = (info: GraphQLResolveInfo): never => includesOf(model, entity, info) as never;
  return {
    [entity.name]: {
      type,
      args: { id: { type: new GraphQLNonNull(GraphQLID) } },
      resolve: (_, { id }, { clients }, info) =>
        told(() => clients[entity.name]?.get(id as string, { include: include(info) })),
    },
    [plural(entity)]: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))),
      args: { where: { type: Json }, sort: { type: new GraphQLList(GraphQLString) }, limit: { type: GraphQLInt } },
      resolve: (_, { where, sort, limit }, { clients }, info) =>
        told(async () => {
          const page = { sort: sort ?? undefined, limit: limit ?? undefined, total: false };
          const options = { where, include: include(info), ...page };
          return (await clients[entity.name]?.list(options as never))?.data;
        }),
    },
  };
}

function writes(entity: AnyEntity, type: GraphQLObjectType): Record<string, Field> {
  const name = capital(entity.name);
  const inputs = Object.values(entity.columns).filter(
    ({ role, field }) => role === "foreignKey" || (role === "field" && field?.readonly !== true),
  );
  const fields = inputs.map((column) => [column.name, { type: SCALARS[column.kind.column.scalar] ?? GraphQLString }]);
  const input = new GraphQLInputObjectType({ name: `${name}Input`, fields: Object.fromEntries(fields) });
  const [id, data] = [{ type: new GraphQLNonNull(GraphQLID) }, { type: new GraphQLNonNull(input) }];
  return {
    [`create${name}`]: {
      type,
      args: { data },
      resolve: (_, args, { clients }) => told(() => clients[entity.name]?.create({ ...args.data } as never)),
    },
    [`update${name}`]: {
      type,
      args: { id, data },
      resolve: (_, args, { clients }) => told(() => clients[entity.name]?.update(args.id, { ...args.data } as never)),
    },
    [`delete${name}`]: {
      type: GraphQLBoolean,
      args: { id },
      resolve: (_, args, { clients }) => told(() => clients[entity.name]?.delete(args.id).then(() => true)),
    },
  };
}

/** The relations that a document selects, as paths: `author`, `author.books`. */
function includesOf(model: Model, entity: AnyEntity, info: GraphQLResolveInfo): readonly string[] {
  const found = new Set<string>();
  const visit = (at: AnyEntity, set: SelectionSetNode | undefined, path: readonly string[]): void => {
    for (const node of set?.selections ?? []) {
      if (node.kind === "InlineFragment") visit(at, node.selectionSet, path);
      else if (node.kind === "FragmentSpread") visit(at, info.fragments[node.name.value]?.selectionSet, path);
      else {
        const relation = model.relation(at, node.name.value);
        if (relation === undefined) continue;
        const inner = [...path, relation.name];
        found.add(inner.join("."));
        visit(relation.target, node.selectionSet, inner);
      }
    }
  };
  for (const node of info.fieldNodes) visit(entity, node.selectionSet, []);
  return [...found];
}

/** Clients receive the API's own errors; Yoga masks others. */
async function told<T>(work: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const { code, status = 500, message } = error as { code?: string; status?: number; message: string };
    if (status >= 500) throw error;
    throw new GraphQLError(message, { extensions: { code } });
  }
}
