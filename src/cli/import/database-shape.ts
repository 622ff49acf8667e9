import type { Provider } from "../../entity/index.ts";

/** A database as its catalogue describes it. */
export interface DatabaseShape {
  readonly provider: Provider;
  readonly tables: readonly TableShape[];
  readonly enums: readonly EnumShape[];
}

/** A table, or a view, which has no key. */
export interface TableShape {
  /** PostgreSQL's; undefined for the schema that the connection uses by default, and elsewhere. */
  readonly schema?: string | undefined;
  readonly name: string;
  readonly isView: boolean;
  readonly comment?: string | undefined;
  readonly columns: readonly TableColumn[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
  readonly uniques: readonly TableIndex[];
  readonly indexes: readonly TableIndex[];
  readonly references: readonly Reference[];
  /** Check constraints, triggers and the like, each as “kind name”: the database keeps them, entities do not say them. */
  readonly others: readonly string[];
}

export interface TableColumn {
  readonly name: string;
  /** The database's word in small letters, such as "varchar(80)"; of an array, that of its elements. */
  readonly type: string;
  readonly isArray: boolean;
  /** The name of the native enum that the type is. */
  readonly enum?: string | undefined;
  readonly required: boolean;
  /** The database's expression. */
  readonly default?: string | undefined;
  /** Whether the database counts the value up: a sequence, an identity. */
  readonly isCounted: boolean;
  /** Whether the app makes the value of a new row, as Prisma does. @default false */
  readonly isAppMade?: boolean | undefined;
  /** Whether the database computes the value. */
  readonly isComputed: boolean;
  readonly comment?: string | undefined;
}

export interface TableIndex {
  readonly name: string;
  readonly columns: readonly string[];
  /** Why entities cannot say it: "over some rows", "over an expression". */
  readonly special?: string | undefined;
}

/** A foreign key. */
export interface Reference {
  readonly name: string;
  readonly columns: readonly string[];
  readonly schema?: string | undefined;
  readonly table: string;
  /** Columns that it refers to. */
  readonly targets: readonly string[];
  readonly onDelete: "cascade" | "setNull" | "restrict";
  /** Rules of the key that entities do not say, such as "ON UPDATE CASCADE". */
  readonly others: readonly string[];
}

export interface EnumShape {
  readonly schema?: string | undefined;
  readonly name: string;
  readonly words: readonly string[];
}

/** The name of a table as people write it. */
export function fullName({ schema, name }: Pick<TableShape, "schema" | "name">): string {
  return schema === undefined ? name : `${schema}.${name}`;
}
