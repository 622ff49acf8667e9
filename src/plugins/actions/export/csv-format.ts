import { type Options, stringify } from "csv-stringify/sync";
import type { Cell } from "../../../entity/index.ts";
import { routeSegment } from "../../../kernel/index.ts";
import type { ExportFormat } from "./export-format.ts";

/** RFC 4180. Whether a cell is quoted is what tells an empty text from null. */
const HEADER: Options = { record_delimiter: "windows" };
const RECORDS: Options = { ...HEADER, quoted_string: true, cast: { boolean: String } };

/** A header row, then a row per record. A field that a record does not show its caller is empty, as null is. */
export const csvFormat: ExportFormat = Object.freeze<ExportFormat>({
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
