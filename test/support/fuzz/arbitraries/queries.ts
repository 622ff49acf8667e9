import fc from "fast-check";
import { callers, type FuzzInput, whole } from "../fuzz-input.ts";
import { hostileDate, hostileText, hostileValue } from "./hostile-text.ts";

const LISTS = ["/api/posts", "/api/notes", "/api/users", "/api/tags", "/api/bares"];
const PLACES = [
  ...LISTS,
  "/api/posts/count",
  "/api/posts/export",
  "/api/notes/count",
  "/api/notes/export",
  "/api/users/count",
  "/api/users/export",
  "/api/posts/p-ann",
  "/api/posts/p-bob",
  "/api/notes/n-ann",
  "/api/notes/n-bob",
  "/api/users/ann",
  "/api/posts/p-ann/exists",
];

/** Fields that only administrators, or no caller at all, may query. */
const HIDDEN = ["password", "apiToken", "salary", "pin", "ssnBidx"];
const FIELDS = [
  "id",
  "createdAt",
  "updatedAt",
  "version",
  "title",
  "slug",
  "body",
  "views",
  "rating",
  "published",
].concat(
  [
    "status",
    "due",
    "meta",
    "authorId",
    "parentId",
    "archived",
    "deletedAt",
    "text",
    "secret",
    "pinned",
    "name",
    "email",
  ],
  ["role", "ssn"],
);
const RELATIONS = ["author", "parent", "tags", "posts", "author.posts", "tags.posts.author"];
const STRANGE = [
  "where",
  "orderBy",
  "cursor",
  "distinct",
  "OR",
  "NOT",
  "AND",
  "__proto__",
  "constructor",
  "t0.title",
].concat([
  "title[not]",
  "title[]",
  "filter[title]",
  "meta.secret",
  "author.__proto__",
  '"title"',
  "title)--",
  "$where",
  ".",
]);
const OPERATORS = [
  "",
  "_ne",
  "_gt",
  "_gte",
  "_lt",
  "_lte",
  "_in",
  "_nin",
  "_like",
  "_starts",
  "_ends",
  "_null",
  "_regex",
];
const CONTROLS = [
  "_sort",
  "_order",
  "_page",
  "_limit",
  "_start",
  "_end",
  "_after",
  "_total",
  "_embed",
  "_deleted",
  "_",
].concat(["include", "select", "q", "format"]);

/** Characters that end a query, a request line or a header stay escaped; the rest may be sent as it is. */
function escaped(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : encodeURIComponent(text.toWellFormed());
}

const anyField = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...FIELDS) },
  { weight: 2, arbitrary: fc.constantFrom(...HIDDEN) },
  { weight: 1, arbitrary: fc.constantFrom(...STRANGE) },
);
const path = fc
  .tuple(fc.constantFrom("", "", "", "author.", "tags.", "parent.", "author.posts."), anyField)
  .map(([through, field]) => through + field);
const names = (one: fc.Arbitrary<string>) => fc.array(one, { minLength: 1, maxLength: 6 }).map((list) => list.join());
const signed = fc.tuple(fc.constantFrom("", "-", "+"), anyField).map(([sign, name]) => sign + name);

/** A forged cursor: its sort is correct, its contents are not. */
const cursor = fc
  .tuple(
    fc.constantFrom("title", "views", "due", "-rating", "authorId"),
    fc.oneof(hostileText, hostileDate, fc.jsonValue()),
    hostileText,
  )
  .map(([order, ...values]): [string, string][] => [
    ["_sort", order],
    ["_after", Buffer.from(JSON.stringify([`${order},id`, ...values])).toString("base64url")],
  ]);

/** Parameters that posts accept. */
const GOOD: readonly [string, string][] = [
  ["title_like", "b"],
  ["title_starts", "By"],
  ["views_gte", "0"],
  ["rating_null", "true"],
  ["published", "false"],
  ["status_in", "draft,live"],
  ["due_lt", "2030-01-01T00:00:00Z"],
  ["createdAt_gt", "2020-01-01T00:00:00Z"],
  ["authorId", "ann"],
  ["id_in", "p-ann,p-bob"],
  ["author.name_like", "a"],
  ["tags.name", "first"],
  ["q", "by"],
  ["_sort", "-views,title"],
  ["_limit", "2"],
  ["_page", "1"],
  ["_total", "none"],
  ["include", "author,tags.posts"],
  ["select", "id,title"],
  ["_", "123"],
];

const odd = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(path, fc.constantFrom(...OPERATORS), hostileValue)
      .map(([name, operator, value]) => [name + operator, value]),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom("_sort"), names(signed)) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom("include", "_embed"), names(fc.constantFrom(...RELATIONS))) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("select"), names(anyField)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("format"), fc.constantFrom("json", "csv", "ndjson", "xml", "CSV")) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...CONTROLS), hostileValue) },
) as fc.Arbitrary<[string, string]>;

const parameter = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...GOOD) }, { weight: 2, arbitrary: odd });

const isHidden = ([name]: readonly [string, string]): boolean =>
  HIDDEN.some((field) => new RegExp(`^(?:author\\.)?${field}(?:_[a-z]+)?$`).test(name));

/** Queries built from existing names. */
export const structuredQuery: fc.Arbitrary<FuzzInput> = fc
  .record({
    caller: callers,
    method: fc.constantFrom("GET", "GET", "GET", "HEAD"),
    place: fc.oneof(fc.constantFrom("/api/posts", "/api/posts/count", "/api/posts/export"), fc.constantFrom(...PLACES)),
    plain: fc.array(parameter, { maxLength: 4 }),
    forged: fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: cursor }),
  })
  .map(({ caller, method, place, plain, forged }) => {
    const parameters = forged ?? plain;
    const query = parameters.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&");
    const isForbidden = caller !== "root" && parameters.some(isHidden);
    return whole({ caller, method, target: `${place}?${query}` }, isForbidden);
  });

/** Bytes that are allowed in a request line. */
const looseBytes = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0x21, max: 0x7e }) }, fc.integer({ min: 0x80, max: 0xff })),
    {
      maxLength: 60,
    },
  )
  .map((bytes) => Buffer.from(bytes).toString("latin1"));

const SNIPPETS = [
  "%00",
  "%zz",
  "%",
  "%E0%A4%A",
  "%C3%28",
  "%ed%a0%80",
  "&&",
  "==",
  "=",
  "&",
  "+",
  "[",
  "]",
  "%5B",
  "%2525",
].concat(["title", "_sort=", "include=author", "?", "#", "__proto__", "_limit=1", "%0d%0aX: y"]);

/** Queries built from arbitrary text. */
export const looseQuery: fc.Arbitrary<FuzzInput> = fc
  .record({
    caller: callers,
    place: fc.constantFrom(...PLACES),
    parts: fc.array(fc.oneof(looseBytes, fc.constantFrom(...SNIPPETS)), { maxLength: 12 }),
  })
  .map(({ caller, place, parts }) => whole({ caller, method: "GET", target: `${place}?${parts.join("")}` }));
