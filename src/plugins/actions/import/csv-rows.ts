import { BadRequestError } from "../../../kernel/index.ts";
import type { CsvRecord } from "./csv-records.ts";
import type { GivenRow } from "./given-row.ts";

/**
 * Rows from records of CSV, of which the first is the header. Empty lines are none, unless one cell is all there is.
 * @param open makes a header ready to read what follows
 * @throws BadRequestError without a header
 */
export async function* csvRows(
  records: AsyncIterable<CsvRecord>,
  open: (header: readonly string[]) => (cells: CsvRecord) => GivenRow,
): AsyncGenerator<GivenRow> {
  let read: ReturnType<typeof open> | undefined;
  let width = 0;
  for await (const cells of records) {
    const isBlank = cells.length === 1 && !cells[0] && width !== 1;
    if (isBlank) continue;
    if (read === undefined) {
      read = open(cells.map((cell) => cell ?? ""));
      width = cells.length;
    } else yield read(cells);
  }
  if (read === undefined) throw new BadRequestError("The body has no header; its first line must name the fields");
}
