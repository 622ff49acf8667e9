import type { JsonSchema } from "../../entity/index.ts";

const TEXT: JsonSchema = { type: "string" };
const MESSAGES: JsonSchema = { type: "object", additionalProperties: TEXT, description: "A message per field." };
const ISSUE: JsonSchema = {
  type: "object",
  required: ["path", "code", "message"],
  properties: { path: { type: "array", items: { type: ["string", "integer"] } }, code: TEXT, message: TEXT },
};
const MEMBERS: Readonly<Record<string, JsonSchema>> = {
  code: { type: "string", description: "What went wrong, for programs.", examples: ["NOT_FOUND"] },
  message: { type: "string", description: "What went wrong, for people." },
  status: { type: "integer", minimum: 400, maximum: 599 },
  requestId: { type: "string", description: "Under which the log knows the request." },
  errors: MESSAGES,
  details: { description: "What else there is to say." },
  failedStep: { type: "string", description: "Of a workflow: the step that failed." },
  compensatedSteps: {
    type: "array",
    items: TEXT,
    description: "Of a workflow: the steps that were taken back, in order.",
  },
  runId: { type: "string", description: "Of a workflow: under which its report is." },
};

/** Schemas of error bodies, by name. */
export const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = Object.freeze({
  Error: { type: "object", required: ["code", "message", "status"], properties: MEMBERS },
  ValidationError: {
    type: "object",
    required: ["code", "message", "status", "errors", "issues"],
    properties: {
      ...MEMBERS,
      code: { const: "VALIDATION_FAILED" },
      issues: { type: "array", items: ISSUE, description: "Everything that is wrong, with its place." },
    },
  },
  Problem: {
    type: "object",
    description: "The same as RFC 9457 has it, for `Accept: application/problem+json`.",
    required: ["type", "title", "detail", "code", "message", "status"],
    properties: { type: { type: "string", format: "uri" }, title: TEXT, detail: TEXT, instance: TEXT, ...MEMBERS },
  },
});

/** The response of one error status. */
interface ErrorKind {
  /** The name of the response in the components. */
  readonly name: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const RETRY = Object.freeze({ "Retry-After": "Seconds after which it is worth another try." });

const KINDS: Readonly<Record<string, ErrorKind>> = {
  400: { name: "BadRequest", description: "The request, or a value in it, is wrong." },
  401: { name: "Unauthenticated", description: "The caller is not logged in, or not recognised." },
  403: { name: "Forbidden", description: "The caller may not do this." },
  404: { name: "NotFound", description: "There is no such record, or it is not the caller's to see." },
  409: { name: "Conflict", description: "Another record is in the way, or refers to this one." },
  412: { name: "PreconditionFailed", description: "The record has changed since it was read." },
  413: { name: "PayloadTooLarge", description: "The body is too large." },
  415: { name: "UnsupportedMediaType", description: "The body is of another type than is expected." },
  422: { name: "UnprocessableContent", description: "The same key was sent before with another request." },
  428: { name: "PreconditionRequired", description: "The request has to say which version it is about." },
  429: { name: "TooManyRequests", description: "The caller asks too often.", headers: RETRY },
  "4XX": { name: "Refused", description: "Whatever else the code behind this route refuses." },
  500: { name: "InternalError", description: "Something went wrong that the caller can do nothing about." },
  503: { name: "Unavailable", description: "The database, or something else, cannot be reached now.", headers: RETRY },
};

/** The name of a status's response in the components. */
export function errorResponseName(status: string): string {
  return KINDS[status]?.name ?? `Error${status}`;
}

/** The response of errors of one status. */
export function errorResponse(status: string): {
  readonly description: string;
  readonly content: Readonly<Record<string, JsonSchema>>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
} {
  const error = { $ref: "#/components/schemas/Error" };
  const { description = `Error ${status}.`, headers } = KINDS[status] ?? {};
  return {
    description,
    content: {
      "application/json":
        status === "400" ? { anyOf: [{ $ref: "#/components/schemas/ValidationError" }, error] } : error,
      "application/problem+json": { $ref: "#/components/schemas/Problem" },
    },
    headers,
  };
}
