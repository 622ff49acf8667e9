import { type Options, stringify } from "csv-stringify/sync";
import type { AnyEntity, Cell, ColumnDefinition } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import {
  BadRequestError,
  didYouMean,
  type Limits,
  readParameters,
  routeSegment,
  shownName,
} from "../../../kernel/index.ts";

/** RFC 4180. Whether a cell is quoted is what tells an empty text from null. */
const HEADER: Options = { record_delimiter: "windows" };
const RECORDS: Options = { ...HEADER, quoted_string: true, cast: { boolean: String } };

/** A header row, then a row per record. A field that a record does not show its caller is empty, as null is. */
const csvFormat: ExportFormat = Object.freeze<ExportFormat>({
  headers: (entity) => ({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${routeSegment(entity)}.csv"`,
  }),
  wire: false,
  begin: (columns) => stringify([columns.map(({ name }) => name)], HEADER),
  batch(records, columns) {
    const rows = records.map((record) =>
      columns.map(({ name, kind }): Cell | null => {
        const value = record[name];
        return value === null || value === undefined ? null : kind.toCell(value);
      }),
    );
    return stringify(rows, RECORDS);
  },
  between: "",
  end: "",
});

/** A JSON object per line: what programs read record by record. */
const ndjsonFormat: ExportFormat = Object.freeze<ExportFormat>({
  headers: () => ({ "content-type": "application/x-ndjson" }),
  wire: true,
  begin: () => "",
  batch: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(""),
  between: "",
  end: "",
});

const jsonFormat: ExportFormat = Object.freeze<ExportFormat>({
  headers: () => ({ "content-type": "application/json; charset=utf-8" }),
  wire: true,
  begin: () => "[",
  batch: (records) => JSON.stringify(records).slice(1, -1),
  between: ",",
  end: "]",
});

/** By the name that requests ask for them by. */
export const FORMATS: ReadonlyMap<string, ExportFormat> = new Map([
  ["json", jsonFormat],
  ["csv", csvFormat],
  ["ndjson", ndjsonFormat],
]);

/**
 * Reads the parameter `format`. @default json
 * @throws BadRequestError for a format that does not exist, or more than one
 */
export function readFormat(search: string, { parameters }: Limits): ExportFormat {
  const [name = "", ...others] = readParameters(search, parameters).get("format") ?? [];
  if (others.length > 0) throw new BadRequestError('"format" is given more than once.');
  const format = FORMATS.get(name === "" ? "json" : name);
  if (format !== undefined) return format;
  const names = [...FORMATS.keys()];
  throw new BadRequestError(
    `There is no format "${shownName(name)}"; there are ${names.join(", ")}.${didYouMean(name, names)}`,
  );
}

/** A way to write records one batch after another. */
export interface ExportFormat {
  headers(entity: AnyEntity): Readonly<Record<string, string>>;
  /** Whether it takes values in their JSON form; otherwise as they are stored. */
  readonly wire: boolean;
  /** What comes before the records. */
  begin(columns: readonly ColumnDefinition[]): string;
  /** One record or more, masked. */
  batch(records: readonly Row[], columns: readonly ColumnDefinition[]): string;
  /** What comes between two batches. */
  readonly between: string;
  /** What comes after the records; without it, an export that broke off is no whole one. */
  readonly end: string;
}
