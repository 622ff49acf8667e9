import type { JsonSchema } from "../../../entity/index.ts";
import type { AnswerDescription, ParameterDescription } from "../../../gate/index.ts";
import { FORMATS } from "./read-format.ts";

export const FORMAT: ParameterDescription = Object.freeze({
  name: "format",
  schema: { type: "string", enum: [...FORMATS.keys()], default: "json" },
  description: "How the records are written.",
});

/** The answer of an export. @param row the schema of one record */
export function describeExport(row: JsonSchema): AnswerDescription {
  return {
    description: "All records, in the format that was asked for.",
    content: {
      "application/json": { type: "array", items: row },
      "text/csv": { type: "string" },
      "application/x-ndjson": { type: "string" },
    },
    headers: { "Content-Disposition": "The name of a file to store it in, for CSV." },
  };
}
