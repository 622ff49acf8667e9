import type { JsonSchema } from "../../../entity/index.ts";
import type { RouteDescription } from "../../../gate/index.ts";

const COUNT: JsonSchema = Object.freeze({ type: "integer", minimum: 0 });
const FAILED: JsonSchema = Object.freeze({
  type: "object",
  required: ["row", "errors"],
  properties: {
    row: { type: "integer", minimum: 1 },
    errors: { type: "object", additionalProperties: { type: "string" } },
  },
});
const RESULT: JsonSchema = Object.freeze({
  type: "object",
  required: ["created", "updated", "failed"],
  properties: { created: COUNT, updated: COUNT, failed: { type: "array", items: FAILED }, failedCount: COUNT },
});

/** What documentation says about an import. @param row the schema of one record */
export function describeImport(row: JsonSchema): RouteDescription {
  return {
    parameters: [
      { name: "dryRun", schema: { type: "boolean" }, description: "Whether all is checked and nothing is stored." },
    ],
    body: {
      required: true,
      content: {
        "text/csv": { type: "string" },
        "application/json": { type: "array", items: row },
        "application/x-ndjson": { type: "string" },
      },
    },
    answers: {
      200: {
        description: "What became of the rows.",
        content: { "application/json": RESULT },
        headers: { "X-Ignored-Fields": "Fields that were sent, and that the caller may not write." },
      },
    },
    errors: [403, 409],
  };
}
