import type { ExportFormat } from "./export-format.ts";

/** A JSON object per line: what programs read record by record. */
export const ndjsonFormat: ExportFormat = Object.freeze<ExportFormat>({
  headers: () => ({ "content-type": "application/x-ndjson" }),
  wire: true,
  begin: () => "",
  batch: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(""),
  between: "",
  end: "",
});
