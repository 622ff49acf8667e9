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

/** A client that is ready for statements. @typeParam C a PrismaClient, or the driver adapter below one */
export interface OpenedClient<C> {
  readonly client: C;
  readonly dialect: Dialect;
  /** Milliseconds that a transaction waits for a connection; 0 waits indefinitely. @default 10000 */
  readonly maxWait?: number;
  /** Prepares statements again after a migration has changed their results. */
  readonly prepareAnew?: () => void;
  /** Closes everything that was opened. */
  close(): Promise<void>;
}

/** A database and its entities. */
export interface Connection<C> extends OpenedClient<C> {
  readonly model: EntityModel;
  /**
   * Returns the app's own definition: statements may contain another definition with the same name. @throws
   * EntityNotFoundError
   */
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

/** Whether an update of these columns increments the version: not without columns, and not for the id alone. */
export function countsVersion({ versioned }: AnyEntity, names: readonly string[]): boolean {
  return versioned !== undefined && names.some((name) => name !== "id");
}

/** The differences between databases, for SQL and for statements of a PrismaClient. */
export interface Dialect {
  readonly provider: Provider;
  /** Whether an UPDATE can return the changed rows. */
  readonly returnsRows: boolean;
  /** The first year of datetimes that a column can store. */
  readonly firstYear: number;
  /** Whether only one transaction can write at a time, so that Keelson must queue them. */
  readonly singleWriter: boolean;
  /** Whether transactions must request READ COMMITTED, with which each statement sees the data committed before it. */
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
  // MySQL does not guarantee earlier years, and Prisma misreads the first century.
  mysql: Object.freeze({
    ...POSTGRESQL,
    provider: "mysql",
    returnsRows: false,
    firstYear: 1000,
    asksReadCommitted: true,
  }),
});

/**
 * The columns for which data has values; undefined values count as absent.
 * @throws DatabaseError for names that are not columns and values that the column cannot hold; ValidationFailedError
 *   for datetimes that this database would change on write or read
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
