import type { Row } from "../../../../gate/index.ts";

/** Any PrismaClient 7: generated, extended with `$extends`, or built in memory. */
export interface AnyPrismaClient {
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
  $transaction(...args: never[]): unknown;
  $queryRawUnsafe(...args: never[]): unknown;
}

/** Arguments of a model's methods, in Prisma's words. */
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

/** What runs statements: a client, or the one that Prisma hands to a transaction. */
export interface StatementClient {
  $queryRawUnsafe(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
}

/** A client as the driver sees it. */
export interface Client extends StatementClient {
  $disconnect(): Promise<void>;
  $transaction<T>(work: (client: StatementClient) => Promise<T>, options: Args): Promise<T>;
}

/** The methods of a model; Prisma names them after the model with a small first letter. */
export function modelApi(client: StatementClient, delegate: string): ModelApi {
  return (client as unknown as Readonly<Record<string, ModelApi>>)[delegate] as ModelApi;
}
