import type { ExportFormat } from "./export-format.ts";

/** One JSON array of records. */
export const jsonFormat: ExportFormat = Object.freeze<ExportFormat>({
  headers: () => ({ "content-type": "application/json; charset=utf-8" }),
  wire: true,
  begin: () => "[",
  batch: (records) => JSON.stringify(records).slice(1, -1),
  between: ",",
  end: "]",
});
