// The routes of entities in the format of JSON:API 1.1 (jsonapi.org), in place of `crud`.
import {
  type AnyEntity,
  BadRequestError,
  createPlugin,
  type PluginContext,
  Reply,
  type RouteContext,
  routeSegment,
} from "keelson/plugin";

const TYPE = "application/vnd.api+json";

type Model = PluginContext["entities"];
type Row = Readonly<Record<string, unknown>>;
type Client = NonNullable<ReturnType<PluginContext["clientFor"]>[string]>;

/** `keelson({ plugins: (defaults) => defaults.replace("crud", jsonApi()) })` */
export const jsonApi = () =>
  createPlugin({
    id: "example/json-api",
    requires: ["rules", "validation", "relations"],
    provides: ["crud"],
    setup(context) {
      for (const entity of context.entities.entities) if (!entity.internal) addRoutes(context, entity);
    },
  });

function addRoutes({ entities: model, routes, clientFor }: PluginContext, entity: AnyEntity): void {
  const path = `/${routeSegment(entity)}`;
  const clientOf = ({ scope }: RouteContext): Client => clientFor(scope)[entity.name] as Client;
  const document = (records: Row | readonly Row[], status = 200, headers = {}): Reply =>
    new Reply(status, documentOf(model, entity, records), { "content-type": TYPE, ...headers });
  const add = (
    method: string,
    at: string,
    action: "list" | "create" | "read" | "update" | "delete",
    handler: (call: RouteContext, client: Client) => Promise<Reply>,
  ): void =>
    routes.add({
      method,
      path: at,
      entity,
      action,
      access: action === "list" ? "read" : action,
      handler: (call) => handler(call, clientOf(call)),
      errorFormat: ({ status, code, message }) => ({
        type: TYPE,
        body: { errors: [{ status: String(status), code, detail: message }] },
      }),
    });

  add("GET", path, "list", async ({ search }, client) => {
    const { data, nextCursor } = await client.list({ ...readQuery(entity, search), total: false } as never);
    const next = new URLSearchParams(search);
    if (nextCursor !== null) next.set("page[after]", nextCursor);
    return document(data as never, 200, nextCursor === null ? {} : { link: `<?${next}>; rel="next"` });
  });
  add("POST", path, "create", async ({ body, root }, client) => {
    const made = (await client.create(readResource(model, entity, await body()) as never)) as Row;
    return document(made, 201, { location: `${root}${path}/${made.id}` });
  });
  add("GET", `${path}/:id`, "read", async ({ params, search }, client) => {
    const { include } = readQuery(entity, search);
    return document((await client.get(params.id as string, { include: include as never })) as Row);
  });
  add("PATCH", `${path}/:id`, "update", async ({ params, body }, client) =>
    document((await client.update(params.id as string, readResource(model, entity, await body()) as never)) as Row),
  );
  add("DELETE", `${path}/:id`, "delete", async ({ params }, client) => {
    await client.delete(params.id as string);
    return new Reply(204);
  });
}

/** `filter[title]=x&sort=-pages&include=author&page[limit]=5&page[after]=…` @throws BadRequestError */
function readQuery({ name: entity, columns }: AnyEntity, search: string) {
  const query: { where: Record<string, unknown>; sort?: string[]; include?: string[]; limit?: number; after?: string } =
    {
      where: {},
    };
  for (const [name, value] of new URLSearchParams(search)) {
    const field = /^filter\[(\w+)\]$/.exec(name)?.[1];
    if (field !== undefined) {
      const parsed = Object.hasOwn(columns, field) ? columns[field]?.kind.parse(value) : undefined;
      if (parsed?.ok !== true) throw new BadRequestError(`${entity} has no field "${field}" that can be "${value}"`);
      query.where[field] = parsed.value;
    } else if (name === "sort") query.sort = value.split(",");
    else if (name === "include") query.include = value.split(",");
    else if (name === "page[limit]") query.limit = Number(value);
    else if (name === "page[after]") query.after = value;
    else throw new BadRequestError(`There is no parameter "${name}"`);
  }
  return query;
}

/** Attributes, and the keys of to-one relations, of a resource in a request. @throws BadRequestError */
function readResource(model: Model, entity: AnyEntity, body: unknown): Row {
  const { data } = (body ?? {}) as { data?: { type?: unknown; attributes?: Row; relationships?: Row } };
  if (data?.type !== entity.name) throw new BadRequestError(`The body needs \`data\` of the type "${entity.name}"`);
  const keys = Object.entries(data.relationships ?? {}).map(([name, related]) => {
    const { foreignKey, type } = model.relation(entity, name) ?? {};
    if (foreignKey === undefined || type !== "belongsTo")
      throw new BadRequestError(`${entity.name} has no relation "${name}" that can be set here`);
    return [foreignKey, (related as { data?: { id?: unknown } | null })?.data?.id ?? null];
  });
  return { ...data.attributes, ...Object.fromEntries(keys) };
}

/** Records as resources, and the records inside them as `included`. */
function documentOf(model: Model, entity: AnyEntity, records: Row | readonly Row[]) {
  const included = new Map<string, object>();
  const resourceOf = (at: AnyEntity, row: Row): object => {
    const attributes: Record<string, unknown> = {};
    const relationships: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(row)) {
      const relation = model.relation(at, name);
      if (relation === undefined) {
        if (name !== "id") attributes[name] = value;
        continue;
      }
      const { target } = relation;
      const identify = (one: Row): object => {
        const key = `${target.name} ${one.id}`;
        if (!included.has(key)) included.set(key, {}).set(key, resourceOf(target, one)); // ends circular includes
        return { type: target.name, id: one.id };
      };
      const data = Array.isArray(value) ? value.map(identify) : value === null ? null : identify(value as Row);
      relationships[name] = { data };
    }
    const linked = Object.keys(relationships).length > 0 ? { relationships } : {};
    return { type: at.name, id: row.id, attributes, ...linked };
  };
  const data = Array.isArray(records)
    ? records.map((row) => resourceOf(entity, row))
    : resourceOf(entity, records as Row);
  return { jsonapi: { version: "1.1" }, data, ...(included.size > 0 && { included: [...included.values()] }) };
}
