import type { Provider } from "../../entity/index.ts";

/** A database, as described by its catalog. */
export interface DatabaseShape {
  readonly provider: Provider;
  readonly tables: readonly TableShape[];
  readonly enums: readonly EnumShape[];
}

/** A table, or a view, which has no key. */
export interface TableShape {
  /** The schema in PostgreSQL; undefined for the connection's default schema, and in other databases. */
  readonly schema?: string | undefined;
  readonly name: string;
  readonly isView: boolean;
  readonly comment?: string | undefined;
  readonly columns: readonly TableColumn[];
  /** The columns of the primary key, in order. */
  readonly key: readonly string[];
  readonly uniques: readonly TableIndex[];
  readonly indexes: readonly TableIndex[];
  readonly references: readonly Reference[];
  /**
   * Check constraints, triggers and similar objects, each as “kind name”: they stay in the database, and entities do
   * not express them.
   */
  readonly others: readonly string[];
}

export interface TableColumn {
  readonly name: string;
  /** The database's type in lower case, such as "varchar(80)"; for an array, the type of its elements. */
  readonly type: string;
  readonly isArray: boolean;
  /** The name of the native enum, if the type is one. */
  readonly enum?: string | undefined;
  readonly required: boolean;
  /** The database's expression. */
  readonly default?: string | undefined;
  /** Whether the database generates the value: a sequence, an identity. */
  readonly isCounted: boolean;
  /** Whether the app generates the value of a new row, as Prisma does. @default false */
  readonly isAppMade?: boolean | undefined;
  /** Whether the database computes the value. */
  readonly isComputed: boolean;
  readonly comment?: string | undefined;
}

export interface TableIndex {
  readonly name: string;
  readonly columns: readonly string[];
  /** The reason why entities cannot express it: "over some rows", "over an expression". */
  readonly special?: string | undefined;
}

/** A foreign key. */
export interface Reference {
  readonly name: string;
  readonly columns: readonly string[];
  readonly schema?: string | undefined;
  readonly table: string;
  /** The columns that it refers to. */
  readonly targets: readonly string[];
  readonly onDelete: "cascade" | "setNull" | "restrict";
  /** Actions of the key that entities cannot express, such as "ON UPDATE CASCADE". */
  readonly others: readonly string[];
}

export interface EnumShape {
  readonly schema?: string | undefined;
  readonly name: string;
  readonly words: readonly string[];
}

/** The qualified name of a table. */
export function fullName({ schema, name }: Pick<TableShape, "schema" | "name">): string {
  return schema === undefined ? name : `${schema}.${name}`;
}
