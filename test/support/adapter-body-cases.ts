import { gzipSync } from "node:zlib";
import { type AdapterCase, ada, jsonType, type Parser, post, postJson, postTo } from "./adapter-case.ts";

const MIB = 1_048_576;
const film = '{"title":"Dune"}';

/** JSON of exactly this many bytes. */
const jsonOf = (size: number): string => `"${"x".repeat(size - 2)}"`;

const chunked = (body: string, size: number): string => {
  const chunks: string[] = [];
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.slice(at, at + size);
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  }
  return `${chunks.join("")}0\r\n\r\n`;
};

const wrongType = (title: string, ...headers: string[]): AdapterCase => ({
  title,
  bytes: post(film, ada, ...headers),
  status: 415,
  code: "UNSUPPORTED_MEDIA_TYPE",
});

const bad = (title: string, body: string | Buffer, ...lostBy: readonly Parser[]): AdapterCase => ({
  title,
  bytes: postJson(body),
  status: 400,
  code: "BAD_REQUEST",
  lostBy,
});

/** Requests with a body. */
export const BODY_CASES: readonly AdapterCase[] = [
  { title: "JSON in one piece", bytes: postJson(film), status: 201 },
  {
    title: "JSON with a charset",
    bytes: post(film, ada, "Content-Type: application/json; charset=utf-8"),
    status: 201,
  },
  { title: "JSON in chunks", bytes: postJson(chunked(film, 3), "Transfer-Encoding: chunked"), status: 201 },
  { title: "JSON after Expect: 100-continue", bytes: postJson(film, "Expect: 100-continue"), status: 201 },
  { title: "JSON of exactly 1 MiB", bytes: postJson(jsonOf(MIB)), status: 400, lostBy: ["json"] },
  {
    title: "a body of 1 MiB and a byte",
    bytes: postJson(jsonOf(MIB + 1)),
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    lostBy: ["json"],
  },
  {
    title: "a body of 1 MiB and a byte in chunks",
    bytes: postJson(chunked(jsonOf(MIB + 1), 10_000), "Transfer-Encoding: chunked"),
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    lostBy: ["json"],
  },
  {
    title: "a body of 20 MB, more than is on its way when the answer is known",
    bytes: postJson(jsonOf(20_000_000)),
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    lostBy: ["json", "raw", "text"],
  },
  {
    title: "a body of 20 MB by nobody",
    bytes: post(jsonOf(20_000_000), jsonType),
    status: 401,
    code: "UNAUTHENTICATED",
    lostBy: ["json", "raw", "text"],
  },
  { title: "a body by nobody", bytes: post(film, jsonType), status: 401, code: "UNAUTHENTICATED" },

  { title: "an action without the body that it may have", bytes: postTo("/films/praise", "", ada), status: 200 },
  { title: "an action", bytes: postTo("/films/f2/rename", '{"title":"Brazil (1985)"}', ada, jsonType), status: 200 },
  {
    title: "an action by nobody",
    bytes: postTo("/films/f2/rename", '{"title":"Mine"}', jsonType),
    status: 401,
    code: "UNAUTHENTICATED",
  },
  {
    title: "an action with the wrong input",
    bytes: postTo("/films/f2/rename", '{"title":""}', ada, jsonType),
    status: 400,
    code: "VALIDATION_FAILED",
  },
  {
    title: "an action on what is not there",
    bytes: postTo("/films/nobody/rename", '{"title":"x"}', ada, jsonType),
    status: 404,
    code: "NOT_FOUND",
  },

  wrongType("text", "Content-Type: text/plain"),
  wrongType("a form", "Content-Type: application/x-www-form-urlencoded"),
  wrongType("a multipart form", "Content-Type: multipart/form-data; boundary=x"),
  wrongType("no type"),
  wrongType("what only begins like JSON", "Content-Type: application/jsonx"),
  wrongType("two types", jsonType, "Content-Type: text/plain"),
  wrongType("the same type twice", jsonType, jsonType),
  {
    title: "compressed JSON",
    bytes: postJson(gzipSync(film), "Content-Encoding: gzip"),
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },

  { title: "no body", bytes: postJson(""), status: 400, code: "BAD_REQUEST" },
  bad("no JSON", "{title}", "json"),
  bad("half of it", film.slice(0, -1), "json"),
  bad("blanks", "   ", "json"),
  bad(
    "bytes that are no UTF-8",
    Buffer.from([...Buffer.from('{"title":"'), 0xff, ...Buffer.from('"}')]),
    "json",
    "text",
  ),
  bad("a key named __proto__", '{"title":"x","__proto__":{"admin":true}}'),
  bad("21 levels", `${"[".repeat(21)}${"]".repeat(21)}`),
  { title: "JSON without a title", bytes: postJson("{}"), status: 400, code: "VALIDATION_FAILED" },
];
