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

/** A cell of CSV (RFC 4180). An empty text is quoted, null is not. Cells of other plugins' kinds are texts. */
function csvCell(cell: Cell | null | undefined): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "number" || typeof cell === "boolean"
    ? String(cell)
    : `"${String(cell).replaceAll('"', '""')}"`;
}

/** A header row, then a row per record. Null and fields that are hidden from the caller are empty cells. */
const csvFormat: ExportFormat = Object.freeze<ExportFormat>({
  headers: (entity) => ({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${routeSegment(entity)}.csv"`,
  }),
  wire: false,
  begin: (columns) => `${columns.map(({ name }) => name).join(",")}\r\n`,
  batch(records, columns) {
    let text = "";
    for (const record of records) {
      const cells = columns.map(({ name, kind }) => {
        const value = record[name];
        return csvCell(value === null || value === undefined ? null : kind.toCell(value));
      });
      text += `${cells.join(",")}\r\n`;
    }
    return text;
  },
  between: "",
  end: "",
});

/** One JSON object per line, for programs that read record by record. */
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

/** Export formats by the name that requests use. */
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

/** A format that writes records batch by batch. */
export interface ExportFormat {
  headers(entity: AnyEntity): Readonly<Record<string, string>>;
  /** Whether it takes values in their JSON form. If not, it takes stored values. */
  readonly wire: boolean;
  /** The text before the records. */
  begin(columns: readonly ColumnDefinition[]): string;
  /** One record or more, masked. */
  batch(records: readonly Row[], columns: readonly ColumnDefinition[]): string;
  /** The text between two batches. */
  readonly between: string;
  /** The text after the records. An export without it is incomplete. */
  readonly end: string;
}
