import type { AnyEntity, ColumnDefinition, Provider } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import { codecOf } from "../condition/column-codec.ts";

/**
 * Makes a record of the values of a row, which come in the order of the columns.
 * @param first Index of the first of them
 */
export type RowDecoder = (values: readonly unknown[], first: number) => Row;

/** What turns rows with these columns into records. @param asText whether moments are wanted as texts */
export function rowDecoder(
  provider: Provider,
  entity: AnyEntity,
  names: readonly string[],
  asText: boolean,
): RowDecoder {
  const columns = names.map((name) => {
    const { decode, toText } = codecOf(provider, entity.columns[name] as ColumnDefinition);
    return [name, (asText ? toText : undefined) ?? decode] as const;
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
