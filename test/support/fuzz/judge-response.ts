import type { HostName } from "../hosts.ts";
import type { FuzzInput } from "./fuzz-input.ts";
import type { StrictResponse } from "./strict-responses.ts";

/** What errors may contain, by status (docs/reference/errors.md). */
const CODES: Readonly<Record<number, readonly string[]>> = {
  400: ["BAD_REQUEST", "VALIDATION_FAILED"],
  401: ["UNAUTHENTICATED"],
  403: ["FORBIDDEN"],
  404: ["NOT_FOUND"],
  405: ["METHOD_NOT_ALLOWED"],
  408: ["BAD_REQUEST"],
  409: ["CONFLICT", "REFERENCED", "IDEMPOTENCY_KEY_IN_USE"],
  412: ["PRECONDITION_FAILED"],
  413: ["PAYLOAD_TOO_LARGE"],
  415: ["UNSUPPORTED_MEDIA_TYPE"],
  417: ["BAD_REQUEST"],
  422: ["IDEMPOTENCY_KEY_REUSED"],
  431: ["BAD_REQUEST"],
};
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Finds what is wrong with a response, independent of the request. */
export function problemsOf(response: StrictResponse, { isHead }: FuzzInput, host: HostName): string[] {
  const { status, headers } = response;
  if (status < 200 || status >= 500) return [`status ${status}`];
  const requestId = headers.get("x-request-id");
  // Express and Hono answer requests outside the API themselves.
  if (requestId === undefined) return host === "node" || status < 400 ? [`${status} without X-Request-Id`] : [];
  const problems: string[] = [];
  const expect = (isSo: boolean, problem: string): void => void (isSo || problems.push(problem));
  expect(UUID.test(requestId), "X-Request-Id is none");
  expect(headers.get("x-content-type-options") === "nosniff", "no nosniff");
  expect(status !== 405 || headers.has("allow"), "405 without Allow");
  const isJson = /[/+]json\b/.test(headers.get("content-type") ?? "");
  expect(isHead || !isJson || parse(response.body) !== undefined, "JSON that is none");
  if (status >= 400) problems.push(...problemsOfError(response, requestId, isHead));
  return problems.map((problem) => `${status}: ${problem}`);
}

function problemsOfError({ status, headers, body }: StrictResponse, requestId: string, isHead: boolean): string[] {
  const type = headers.get("content-type") ?? "";
  const isProblem = type === "application/problem+json";
  if (!isProblem && type !== "application/json; charset=utf-8") return [`type ${type}`];
  if (isHead) return [];
  const error = parse(body);
  if (error === undefined) return ["an error that is no JSON"];
  const { code, message } = error;
  const problems: string[] = [];
  const expect = (isSo: boolean, problem: string): void => void (isSo || problems.push(problem));
  expect(error.status === status, `says ${String(error.status)}`);
  expect(error.requestId === requestId, "another requestId");
  expect(typeof message === "string" && message !== "" && message.length < 1_000, "no message, or a novel");
  expect(CODES[status]?.includes(String(code)) === true, `code ${String(code)}`);
  expect((code === "VALIDATION_FAILED") === (error.issues !== undefined), "issues do not go with the code");
  if (isProblem) {
    expect(error.type === `urn:keelson:error:${String(code)}` && error.title === code, "type or title");
    expect(error.detail === message, "detail");
  }
  return problems;
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
