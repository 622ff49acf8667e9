import fc from "fast-check";
import { callers, type FuzzInput, whole } from "../fuzz-input.ts";

const PLAIN = [
  "api",
  "posts",
  "notes",
  "users",
  "p-ann",
  "p-bob",
  "n-bob",
  "ann",
  "bob",
  "bulk",
  "soft",
  "restore",
  "clone",
].concat(
  [
    "archive",
    "toggle-published",
    "exists",
    "count",
    "export",
    "rename",
    "echo",
    "health",
    "live",
    "ready",
    "openapi.json",
    "docs",
  ],
  ["idempotency-keys", "journal", "bares", "b", "POSTS", "post"],
);
const ODD = [
  "",
  ".",
  "..",
  "...",
  "%2e",
  "%2E%2e",
  ".%2e",
  "%2F",
  "a%2Fb",
  "%252F",
  "%5C",
  "\\",
  "%00",
  "%0A",
  "%0d%0a",
  "%7F",
  "%zz",
].concat(
  [
    "%",
    "%E0%A4%A",
    "%C3%28",
    "%ed%a0%80",
    "%F0%9F%98%80",
    "\xff",
    "\xc3\xa9",
    ";jsessionid=1",
    "p-ann;v=1",
    "p-ann%20",
    "~",
    "*",
    ":id",
  ],
  [
    "__proto__",
    "constructor",
    "{id}",
    "$where",
    "'--",
    '"',
    "<script>",
    "x".repeat(128),
    "x".repeat(129),
    "%61pi",
    "p%2Dann",
    "@",
    "//",
  ],
);
const TAILS = ["", "", "", "", "", "", "", "", "/", "//", "?", "#", "?x", "/..", "/.", "%3Fselect=id", ";"];
const METHODS = [
  "GET",
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "SEARCH",
  "LOCK",
  "QUERY",
];
const FORMS = ["", "http://fuzz.invalid", "http://other.invalid:1", "https://a@b", "HTTP://FUZZ.INVALID"];

const segment = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 4, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...PLAIN), fc.constantFrom(...ODD)).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.constantFrom(9_000, 12_000).map((length) => "x".repeat(length)) },
);

const RECORDS = ["posts/p-ann", "posts/p-bob", "posts/archived-ann", "posts/deleted-ann", "notes/n-ann", "notes/n-bob"];
const ROUTES = [
  ["POST", "/archive"],
  ["POST", "/unarchive"],
  ["DELETE", "/soft"],
  ["POST", "/restore"],
  ["POST", "/toggle-published"],
  ["POST", "/toggle-pinned"],
  ["POST", "/clone"],
  ["GET", "/exists"],
  ["DELETE", ""],
  ["PATCH", ""],
] as const;

const below = fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join("/")}`);
const known = fc
  .tuple(
    fc.constantFrom("/api", "/api/", "/Api", "/%61pi", "//api", "/./api", "/x/../api"),
    fc.constantFrom("posts", "notes", "users"),
    segment,
  )
  .map((parts) => parts.join("/"));

/** Targets of every shape, with every method. */
const odd = fc
  .record({
    method: fc.constantFrom(...METHODS),
    form: fc.oneof({ weight: 12, arbitrary: fc.constant("") }, fc.constantFrom(...FORMS)),
    path: fc.oneof(below, known),
    tail: fc.constantFrom(...TAILS),
  })
  .map(({ method, form, path, tail }) => ({ method, target: form + path + tail }));

/** Actions on the caller's own, other users', archived and deleted records. */
const actual = fc
  .tuple(fc.constantFrom(...RECORDS), fc.constantFrom(...ROUTES))
  .map(([record, [method, action]]) => ({ method, target: `/api/${record}${action}` }));

/** Bodies are empty objects. */
export const paths: fc.Arbitrary<FuzzInput> = fc
  .record({
    caller: callers,
    request: fc.oneof({ weight: 2, arbitrary: odd }, { weight: 1, arbitrary: actual }),
    hasBody: fc.boolean(),
  })
  .map(({ caller, request, hasBody: withBody }) => {
    const body = withBody && !["GET", "HEAD"].includes(request.method) ? { body: Buffer.from("{}") } : {};
    return whole({ caller, ...request, ...body });
  });
