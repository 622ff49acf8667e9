import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { TOKENS } from "../../support/fuzz/callers.ts";
import { leaksIn } from "../../support/fuzz/canaries.ts";
import { describeInput, type SentInput, whole } from "../../support/fuzz/fuzz-input.ts";
import { wrongChanges } from "../../support/fuzz/judge-changes.ts";
import { problemsOf } from "../../support/fuzz/judge-response.ts";
import { readStrictly, type StrictResponse } from "../../support/fuzz/strict-responses.ts";

// The fuzzer can only find what its checks detect: these tests give the checks violations, and each must be detected.

const http = (...lines: readonly string[]): Buffer => Buffer.from(lines.join("\r\n"), "latin1");

describe("the strict reader of responses", () => {
  it("reads valid responses", () => {
    const bytes = http(
      "HTTP/1.1 100 Continue",
      "",
      "HTTP/1.1 200 OK",
      "Content-Length: 2",
      "",
      "okHTTP/1.1 204 No Content",
      "",
      "",
    );
    expect(readStrictly(bytes, false).map(({ status, body }) => [status, body.toString()])).toEqual([
      [200, "ok"],
      [204, ""],
    ]);
    const chunked = http("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "2", "ok", "0", "", "");
    expect(readStrictly(chunked, false)[0]?.body.toString()).toBe("ok");
  });

  it.each([
    ["another version", http("HTTP/1.0 200 OK", "Content-Length: 0", "", "")],
    ["no status", http("HTTP/1.1 OK", "Content-Length: 0", "", "")],
    ["a header without an end", http("HTTP/1.1 200 OK", "Content-Length: 0", "")],
    ["a header line that is none", http("HTTP/1.1 200 OK", "Content-Length: 0", "X Y: z", "", "")],
    ["a line break of its own in a header", http("HTTP/1.1 200 OK", "Content-Length: 0", "X: a\nb", "", "")],
    ["NUL in a header", http("HTTP/1.1 200 OK", "Content-Length: 0", "X: a\0", "", "")],
    ["two lengths", http("HTTP/1.1 200 OK", "Content-Length: 0", "Content-Length: 0", "", "")],
    ["both framings", http("HTTP/1.1 200 OK", "Content-Length: 0", "Transfer-Encoding: chunked", "", "0", "", "")],
    ["no framing on a connection that goes on", http("HTTP/1.1 200 OK", "", "body")],
    ["fewer bytes than announced", http("HTTP/1.1 200 OK", "Content-Length: 3", "", "ok")],
    ["more bytes than announced", http("HTTP/1.1 200 OK", "Content-Length: 1", "", "ok")],
    ["chunks without an end", http("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "2", "ok", "")],
    ["a chunk of no size", http("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "x", "ok", "0", "", "")],
    ["a chunk of another size", http("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "1", "ok", "0", "", "")],
  ])("refuses %s", (_, bytes) => {
    expect(() => readStrictly(bytes, false)).toThrow();
  });
});

describe("the search for leaks", () => {
  it.each([
    ["somebody else's secret", "ann", '{"secret":"cnrysecret.bob"}'],
    ["one's own hidden field", "ann", '{"apiToken":"cnrytoken.ann"}'],
    ["a number for administrators", "ann", '{"salary":770000202}'],
    ["a password hash", "root", '"$pbkdf2$2000$AAAA$AAAA"'],
    ["ciphertext", "root", '"k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAA"'],
    ["a stack", "root", '"at Object.handle (file:///app/src/x.js:1:1)"'],
    ["a place in code", "root", '"src/keelson.ts:12"'],
    ["SQL", "root", `"SELECT \\"id\\" FROM post WHERE 1"`],
    ["an error of the database", "root", '"SQLITE_CONSTRAINT"'],
    ["a token", "root", `"${TOKENS.bob}"`],
  ] as const)("finds %s", (_, caller, shown) => {
    expect(leaksIn(shown, caller, "", Object.values(TOKENS))).not.toEqual([]);
  });

  it("finds nothing in values that the caller may see, or has sent", () => {
    expect(leaksIn('{"secret":"cnrysecret.ann"}', "ann", "", [])).toEqual([]);
    expect(leaksIn('"cnrysecret.bob" is no number', "ann", "?views=cnrysecret.bob", [])).toEqual([]);
  });
});

const input = (caller: SentInput["caller"], method: string, target: string, body?: string): SentInput => ({
  ...whole({ caller, method, target, ...(body === undefined ? {} : { body: Buffer.from(body) }) }),
  host: "node",
  packets: 1,
});
const response = (
  status: number,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {},
): StrictResponse => ({
  status,
  headers: new Map(Object.entries(headers)),
  body: Buffer.from(JSON.stringify(body)),
});

describe("the comparison of stored rows", () => {
  const before = new Map([
    ["post p-ann", `"authorId":'ann',"title":'a'`],
    ["post p-bob", `"authorId":'bob',"title":'b'`],
    ["post other", `"authorId":'ann',"title":'c'`],
  ]);
  const changed = (...pairs: readonly (readonly [string, string])[]) => new Map([...before, ...pairs]);
  const ofAnn = `"authorId":'ann',"title":'x'`;
  const patch = input("ann", "PATCH", "/api/posts/p-ann");
  const bulk = input("ann", "PUT", "/api/posts/bulk", '{"ids":["p-ann"]}');

  it.each<[string, SentInput, StrictResponse[], [string, string]]>([
    ["a change after a refusal", patch, [response(400)], ["post p-ann", ofAnn]],
    ["a change without an answer", patch, [], ["post p-ann", ofAnn]],
    ["a change by GET", input("ann", "GET", "/api/posts/p-ann"), [response(200)], ["post p-ann", ofAnn]],
    ["another record than was named", patch, [response(200)], ["post other", ofAnn]],
    [
      "somebody else's record",
      input("ann", "PATCH", "/api/posts/p-bob"),
      [response(200)],
      ["post p-bob", `"authorId":'bob'`],
    ],
    ["a record given away", patch, [response(200)], ["post p-ann", `"authorId":'bob'`]],
    [
      "a change by nobody",
      input("anonymous", "POST", "/api/posts"),
      [response(201, { id: "new" })],
      ["post new", ofAnn],
    ],
    [
      "a record that is created twice",
      input("ann", "POST", "/api/posts"),
      [response(201, { id: "p-ann" })],
      ["post new", ofAnn],
    ],
    ["a record that no bulk named", bulk, [response(200, { count: 1 })], ["post other", ofAnn]],
    ["a key that nobody sent", patch, [response(200)], ["idempotencyKey k", "x"]],
    ["a link of no record that changed", patch, [response(200)], [`_post_tags "A":'p-bob'`, "x"]],
  ])("notices %s", (_, sent, responses, pair) => {
    expect(wrongChanges(sent, responses, before, changed(pair))).not.toEqual([]);
  });

  it("notices a permitted change that is missing", () => {
    const create = input("ann", "POST", "/api/posts");
    expect(wrongChanges(create, [response(201, { id: "new" })], before, before)).toEqual([
      "new was created and is not there",
    ]);
  });

  it("accepts a permitted change, and no change", () => {
    expect(wrongChanges(patch, [response(200)], before, changed(["post p-ann", ofAnn]))).toEqual([]);
    expect(wrongChanges(patch, [response(412)], before, before)).toEqual([]);
    expect(wrongChanges(bulk, [response(200, { count: 1 })], before, changed(["post p-ann", ofAnn]))).toEqual([]);
  });
});

describe("the check of a response", () => {
  const requestId = "00000000-0000-4000-8000-000000000000";
  const head = {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "content-type": "application/json; charset=utf-8",
  };
  const error = { code: "NOT_FOUND", message: "Not found", status: 404, requestId };
  const get = input("ann", "GET", "/api/posts/missing");

  it("finds nothing wrong with a documented error", () => {
    expect(problemsOf(response(404, error, head), get, "node")).toEqual([]);
  });

  it.each([
    ["a status of its own fault", response(500, error, head)],
    ["no request id", response(404, error, { ...head, "x-request-id": "" })],
    ["another request id", response(404, { ...error, requestId: "x" }, head)],
    ["no nosniff", response(404, error, { ...head, "x-content-type-options": "" })],
    ["another status in the body", response(404, { ...error, status: 400 }, head)],
    ["a code of another status", response(404, { ...error, code: "FORBIDDEN" }, head)],
    ["HTML", response(404, error, { ...head, "content-type": "text/html" })],
    ["no message", response(404, { ...error, message: "" }, head)],
    ["405 without Allow", response(405, { ...error, code: "METHOD_NOT_ALLOWED", status: 405 }, head)],
    [
      "problem details without their members",
      response(404, error, { ...head, "content-type": "application/problem+json" }),
    ],
  ])("notices %s", (_, answer) => {
    expect(problemsOf(answer, get, "node")).not.toEqual([]);
  });
});

describe("a printed input", () => {
  it("is code that produces the same bytes", () => {
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
      Buffer.alloc(5_000, "x"),
      Buffer.from('"\\'),
    ]);
    const [, code = ""] =
      /^ann to hono in 2 packet\(s\): (.*)$/s.exec(
        describeInput({ ...input("ann", "GET", "/"), host: "hono", packets: 2, bytes }),
      ) ?? [];
    expect(code.length).toBeLessThan(2_000);
    expect(runInNewContext(code, { Buffer })).toEqual(bytes);
  });
});
