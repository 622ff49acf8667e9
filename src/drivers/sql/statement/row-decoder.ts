import type { AnyEntity, ColumnDefinition, Provider } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import { codecOf } from "../condition/column-codec.ts";

/** How moments are read. */
export interface Moments {
  /** A moment from the text, or the number, that a database or its adapter makes of it. */
  readonly read: (value: unknown) => Date;
  /** What JSON has of it. Absent where moments are never texts. */
  readonly toText: ((value: unknown) => string) | undefined;
}

const ZONE = /(?:Z|[+-]\d\d(?::?\d\d)?)$/;

/** PostgreSQL has a space in the middle, and no zone: its columns keep UTC. */
export function plainMoment(value: unknown): Date {
  if (typeof value !== "string") return new Date(value as number);
  return new Date(value.charAt(10) === " " && !ZONE.test(value) ? `${value.replace(" ", "T")}Z` : value);
}

/**
 * Makes a record of the values of a row, which come in the order of the columns.
 * @param first Index of the first of them
 */
export type RowDecoder = (values: readonly unknown[], first: number) => Row;

/** What turns rows with these columns into records. @param asText whether moments may be texts */
export function rowDecoder(
  provider: Provider,
  entity: AnyEntity,
  names: readonly string[],
  { read, toText }: Moments,
  asText: boolean,
): RowDecoder {
  const readMoment = (asText ? toText : undefined) ?? read;
  const columns = names.map((name) => {
    const column = entity.columns[name] as ColumnDefinition;
    const isMoment = column.kind.column.scalar === "DateTime";
    return [name, isMoment ? readMoment : codecOf(provider, column).decode] as const;
  });
  return (values, first) => {
    const row: Row = {};
    for (let index = 0; index < columns.length; index++) {
      const [name, decode] = columns[index] as (typeof columns)[number];
      const value = values[first + index];
      row[name] = value === null || decode === undefined ? value : decode(value);
    }
    return row;
  };
}
