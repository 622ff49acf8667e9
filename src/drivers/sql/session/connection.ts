import {
  type AnyEntity,
  type ColumnDefinition,
  ConfigurationError,
  canHold,
  type EntityModel,
  type Provider,
} from "../../../entity/index.ts";
import type { DriverContext, Row } from "../../../gate/index.ts";
import { DatabaseError, EntityNotFoundError, ValidationFailedError } from "../../../kernel/index.ts";

/** A client that is ready for statements. @typeParam C A PrismaClient, or the driver adapter below one */
export interface OpenedClient<C> {
  readonly client: C;
  readonly dialect: Dialect;
  /** Milliseconds that a transaction waits for a connection to run on; 0 as long as it takes. @default 10000 */
  readonly maxWait?: number;
  /** Has statements prepared anew, after a migration has changed what they return. */
  readonly prepareAnew?: () => void;
  /** Closes everything that was opened. */
  close(): Promise<void>;
}

/** A database and its entities. */
export interface Connection<C> extends OpenedClient<C> {
  readonly model: EntityModel;
  /** The app's own definition: statements may come with another one of the same name. @throws EntityNotFoundError */
  entityOf(entity: { readonly name: string }): AnyEntity;
}

/** @throws ConfigurationError when two entities would be one model */
export function createConnection<C>(opened: OpenedClient<C>, { model }: DriverContext): Connection<C> {
  assertDistinct(model);
  return Object.freeze({
    ...opened,
    model,
    entityOf({ name }) {
      const entity = model.get(name);
      if (entity === undefined) throw new EntityNotFoundError(`There is no entity "${name}"`);
      return entity;
    },
  } satisfies Connection<C>);
}

/** The error of a driver that is used before its app has started. */
export function notConnected(name: string): ConfigurationError {
  return new ConfigurationError(`the ${name} driver is not connected; start the app first (await api.ready)`);
}

/** @throws ConfigurationError when two entities would be one model */
export function assertDistinct({ entities }: EntityModel): void {
  const taken = new Map<string, string>();
  for (const { name } of entities) {
    const other = taken.get(name.toLowerCase());
    if (other !== undefined)
      throw new ConfigurationError(`entities "${other}" and "${name}" differ only in case; databases may not`);
    taken.set(name.toLowerCase(), name);
  }
}

/** Whether a change of these columns increments the version: not without columns, and not for the id alone. */
export function countsVersion({ versioned }: AnyEntity, names: readonly string[]): boolean {
  return versioned !== undefined && names.some((name) => name !== "id");
}

/** How databases differ, for the SQL of the drivers and for statements of a PrismaClient alike. */
export interface Dialect {
  readonly provider: Provider;
  /** Whether an UPDATE can return the rows it changed. */
  readonly returnsRows: boolean;
  /** The first year of datetimes that a column stores. */
  readonly firstYear: number;
  /** Whether only one transaction at a time can write, so that Keelson's have to queue. */
  readonly singleWriter: boolean;
  /** Whether transactions have to ask for READ COMMITTED, by which each statement sees what was committed before it. */
  readonly asksReadCommitted: boolean;
}

const POSTGRESQL: Dialect = Object.freeze({
  provider: "postgresql",
  returnsRows: true,
  firstYear: 1,
  singleWriter: false,
  asksReadCommitted: false,
});

export const DIALECTS: Readonly<Record<Provider, Dialect>> = Object.freeze({
  postgresql: POSTGRESQL,
  sqlite: Object.freeze({ ...POSTGRESQL, provider: "sqlite", singleWriter: true }),
  // Years before that are beyond what MySQL promises, and Prisma reads the first century as another one.
  mysql: Object.freeze({
    ...POSTGRESQL,
    provider: "mysql",
    returnsRows: false,
    firstYear: 1000,
    asksReadCommitted: true,
  }),
});

/**
 * The columns that data has values for; undefined values count as absent.
 * @throws DatabaseError for names that are not columns and values that the column cannot hold; ValidationFailedError
 *   for datetimes that this database would change on their way in or out
 */
export function givenColumns(entity: AnyEntity, data: Row, { firstYear }: Dialect): ColumnDefinition[] {
  const columns: ColumnDefinition[] = [];
  for (const name of Object.keys(data)) {
    const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
    if (column === undefined) throw new DatabaseError(`${entity.name} has no column "${name}"`);
    const value = data[name];
    if (value === undefined) continue;
    if (!canHold(column, value)) throw new DatabaseError(`${entity.name}.${name} cannot hold this value`);
    if (value instanceof Date && value.getUTCFullYear() < firstYear)
      throw new ValidationFailedError({ [name]: `must not be before the year ${firstYear}` });
    columns.push(column);
  }
  return columns;
}
