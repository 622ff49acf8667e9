import { type AnyEntity, ConfigurationError, type EntityModel, type Provider } from "../../../entity/index.ts";
import type { DriverContext, Row } from "../../../gate/index.ts";
import {
  type Connection,
  createConnection,
  createSqlBuilder,
  type ExactCollation,
  exactCollation,
  type OpenedClient,
  type Session,
  type SqlBuilder,
} from "../../sql/index.ts";
import { clientForm } from "./client-values.ts";

/** A database behind a PrismaClient, with everything compiled for it. */
export interface ClientConnection extends Connection<Client> {
  /** Prisma's value for a JSON column that is null. */
  readonly dbNull: unknown;
  /** Writes the conditions that Prisma cannot express. */
  readonly builder: SqlBuilder;
  /** @throws EntityNotFoundError */
  planOf(entity: { readonly name: string }): ClientPlan;
}

/** The session of statements of a PrismaClient. */
export type ClientSession = Session<StatementClient, ClientConnection>;

/** The compiled data of an entity and its model in a PrismaClient. */
export interface ClientPlan {
  readonly entity: AnyEntity;
  /** The property of the client with the model's methods. */
  readonly delegate: string;
  /** Prisma's `select` for all columns of the definition, and no others. */
  readonly columns: Args;
  /** Columns whose values Prisma returns in a form other than that of their kind. */
  readonly reads: readonly (readonly [name: string, from: (value: unknown) => unknown])[] | undefined;
}

/** The collation with which a MySQL or MariaDB server compares text exactly. */
async function collationOf({ client }: OpenedClient<Client>, provider: Provider): Promise<ExactCollation | undefined> {
  if (provider !== "mysql") return undefined;
  return exactCollation((await client.$queryRawUnsafe("SELECT version() AS version"))[0]?.version);
}

/** @throws ConfigurationError */
export async function createClientConnection(
  opened: OpenedClient<Client>,
  context: DriverContext,
): Promise<ClientConnection> {
  const { entities } = context.model;
  refuseBeyondPrisma(context.model, opened.dialect.provider);
  const hasJson = entities.some(({ columns }) =>
    Object.values(columns).some(({ kind }) => ["Json", "List"].includes(kind.column.scalar)),
  );
  const dbNull = hasJson ? await importDbNull() : undefined;
  const connection = createConnection(opened, context);
  const builder = await createSqlBuilder(
    connection.dialect.provider,
    undefined,
    await collationOf(opened, connection.dialect.provider),
    new Set(), // checkClient refuses columns that compare inexactly
  );
  const plans = new Map(
    entities.map((entity) => {
      const columns = Object.freeze(Object.fromEntries(Object.keys(entity.columns).map((name) => [name, true])));
      const reads = readsOf(entity, connection.dialect.provider);
      return [entity, Object.freeze({ entity, delegate: delegateOf(entity), columns, reads })] as const;
    }),
  );
  return Object.freeze({
    ...connection,
    dbNull,
    builder,
    planOf: (entity) => plans.get(connection.entityOf(entity)) as ClientPlan,
  } satisfies ClientConnection);
}

const ASKED_OTHERWISE: ReadonlySet<string> = new Set(["Time", "Bytes"]);

/** @throws ConfigurationError for features that a client does not support, but its adapter does */
function refuseBeyondPrisma(model: EntityModel, provider: Provider): void {
  const composite = model.entities
    .filter(({ columns }) => columns.id?.parts !== undefined)
    .map(({ name }) => `${name}.id()`);
  const through = model.entities.flatMap((entity) =>
    model
      .relationsOf(entity)
      .flatMap((relation) => (relation.through === undefined ? [] : [`${entity.name}.${relation.name}`])),
  );
  // A client reads NULL as an empty array, and cannot search for times and bytes in arrays.
  const lists = (provider === "postgresql" ? model.entities : []).flatMap(({ name, columns }) =>
    Object.values(columns)
      .filter(
        ({ kind: { column }, optional }) =>
          column.items !== undefined && (optional || ASKED_OTHERWISE.has(column.items.scalar)),
      )
      .map((column) => `${name}.${column.name}`),
  );
  const beyond = [...composite, ...through, ...lists];
  if (beyond.length > 0)
    throw new ConfigurationError(
      `${beyond.join(", ")}: ids of several columns, pairs in tables with names of their own and arrays of PostgreSQL that are optional, or of times or bytes, need the client's adapter; pass it as well: prisma(client, { adapter })`,
    );
}

/**
 * Imports Prisma's value for “no value” in a JSON column, where `null` would be stored as JSON null. Prisma recognizes
 * it by a shared symbol, so a copy of the package other than the generated client's works, too.
 */
async function importDbNull(): Promise<unknown> {
  try {
    return (await import("@prisma/client/runtime/client")).DbNull;
  } catch (cause) {
    throw new ConfigurationError('json fields need "@prisma/client". Run: npm i @prisma/client', { cause });
  }
}

/** The property of a model's methods in Prisma's client: the model's name with a lower-case first letter. */
export function delegateOf({ name }: AnyEntity): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** Any PrismaClient 7: generated, extended with `$extends`, or built in memory. */
export interface AnyPrismaClient {
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
  $transaction(...args: never[]): unknown;
  $queryRawUnsafe(...args: never[]): unknown;
}

/** Arguments of a Prisma model's methods. */
export type Args = Readonly<Record<string, unknown>>;

/** The methods of one model that the driver calls. */
export interface ModelApi {
  /** One entry per column. */
  readonly fields: Readonly<Record<string, unknown>>;
  findFirst(args: Args): Promise<Row | null>;
  findMany(args: Args): Promise<Row[]>;
  count(args: Args): Promise<number>;
  create(args: Args): Promise<Row>;
  createMany(args: Args): Promise<{ readonly count: number }>;
  update(args: Args): Promise<Row>;
  updateMany(args: Args): Promise<{ readonly count: number }>;
  updateManyAndReturn(args: Args): Promise<Row[]>;
  deleteMany(args: Args): Promise<{ readonly count: number }>;
}

/** Runs statements: a client, or the client that Prisma passes to a transaction. */
export interface StatementClient {
  $queryRawUnsafe(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
}

/** The part of a client that the driver uses. */
export interface Client extends StatementClient {
  $disconnect(): Promise<void>;
  $transaction<T>(work: (client: StatementClient) => Promise<T>, options: Args): Promise<T>;
}

/** The methods of a model. */
export function modelApi(
  client: StatementClient,
  { delegate, reads }: Pick<ClientPlan, "delegate"> & { readonly reads?: ClientPlan["reads"] },
): ModelApi {
  const api = (client as unknown as Readonly<Record<string, ModelApi>>)[delegate] as ModelApi;
  return reads === undefined ? api : reading(api, reads);
}

type Reads = NonNullable<ClientPlan["reads"]>;

/** Wraps a model's methods so that values have the form of their kinds. */
function reading(api: ModelApi, reads: Reads): ModelApi {
  const read = <T extends Row | null>(row: T): T => {
    if (row !== null)
      for (const [name, from] of reads) if (row[name] !== undefined && row[name] !== null) row[name] = from(row[name]);
    return row;
  };
  return {
    fields: api.fields,
    findFirst: async (args) => read(await api.findFirst(args)),
    findMany: async (args) => (await api.findMany(args)).map(read),
    count: (args) => api.count(args),
    create: async (args) => read(await api.create(args)),
    createMany: (args) => api.createMany(args),
    update: async (args) => read(await api.update(args)),
    updateMany: (args) => api.updateMany(args),
    updateManyAndReturn: async (args) => (await api.updateManyAndReturn(args)).map(read),
    deleteMany: (args) => api.deleteMany(args),
  };
}

function readsOf({ columns }: AnyEntity, provider: Provider): Reads | undefined {
  const reads = Object.values(columns).flatMap((column) => {
    const { from } = clientForm(provider, column);
    return from === undefined ? [] : [[column.name, from] as const];
  });
  return reads.length === 0 ? undefined : reads;
}

/**
 * Whether Prisma refused a statement because it has too many parameters (P2029). A condition may list more ids than a
 * statement accepts. Prisma then uses several statements, unless the rows are sorted or counted.
 */
export function isTooLong(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "P2029";
}
