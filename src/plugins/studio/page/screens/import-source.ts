/** Rows to import: a file, or a text without a name. */
export interface Source {
  readonly name: string;
  readonly content: Blob | string;
}

const BY_ENDING: Readonly<Record<string, string>> = {
  csv: "text/csv",
  json: "application/json",
  ndjson: "application/x-ndjson",
  jsonl: "application/x-ndjson",
};

/** The media type of the rows: from the file name's extension, or else from the first character. */
export function typeOf({ name, content }: Source): string {
  const known = BY_ENDING[name.slice(name.lastIndexOf(".") + 1).toLowerCase()];
  if (known !== undefined) return known;
  const start = typeof content === "string" ? content.trimStart().charAt(0) : "";
  if (start === "[") return "application/json";
  return start === "{" ? "application/x-ndjson" : "text/csv";
}
