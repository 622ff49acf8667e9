import fc from "fast-check";
import { callers, type FuzzInput, whole } from "../fuzz-input.ts";
import { hostileDate, hostileNumber, hostileText } from "./hostile-text.ts";

/** A request that is accepted as it is. */
interface Template {
  readonly method: string;
  readonly target: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const post = {
  title: "A title",
  body: "text",
  views: 1,
  rating: 1.5,
  published: true,
  status: "live",
  tagsIds: ["t1"],
};
const TEMPLATES: readonly Template[] = [
  {
    method: "POST",
    target: "/api/posts",
    body: { ...post, slug: "a-slug", meta: { a: [1] }, due: "2024-02-29T00:00:00Z" },
  },
  { method: "PATCH", target: "/api/posts/p-ann", body: { ...post, parentId: "p-bob", meta: null } },
  { method: "PUT", target: "/api/posts/p-ann", body: { title: "Another" } },
  { method: "PATCH", target: "/api/posts/p-bob", body: { title: "Another" } },
  { method: "POST", target: "/api/notes", body: { text: "text", secret: "secret" } },
  { method: "PATCH", target: "/api/notes/n-ann", body: { secret: "another", pinned: true } },
  { method: "PATCH", target: "/api/notes/n-bob", body: { secret: "another" } },
  {
    method: "PATCH",
    target: "/api/users/ann",
    body: { name: "Ann", email: "new@fuzz.invalid", password: "another one" },
  },
  { method: "PATCH", target: "/api/users/bob", body: { role: "admin", salary: 1 } },
  { method: "POST", target: "/api/posts/p-ann/rename", body: { title: "Renamed", at: "2024-01-01T00:00:00Z" } },
  { method: "POST", target: "/api/posts/p-ann/clone", body: {} },
  { method: "PUT", target: "/api/posts/bulk", body: { ids: ["p-ann", "p-bob"], data: { title: "All of them" } } },
  { method: "DELETE", target: "/api/posts/bulk", body: { ids: ["p-ann", "archived-ann"] } },
  { method: "POST", target: "/api/notes/bulk-update", body: { ids: ["n-ann", "n-bob"], data: { secret: "all" } } },
  { method: "POST", target: "/api/posts/import", body: {} },
  { method: "POST", target: "/echo", body: { text: "text", number: 1, anything: [] } },
];

const KEYS =
  "id createdAt version author authorId parent parentId tags tagsIds pin ssn salary role apiToken password deletedAt archived ssnBidx secretBidx __proto__ constructor toString title\u00a0 Title ids data where $set length meta due text isAdmin"
    .split(" ")
    .concat("", "\u0000", "title ");

/** Marks raw JSON, as opposed to text that still has to be quoted. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const nested = (depth: number, open: string, close: string, core: string): Raw =>
  new Raw(open.repeat(depth) + core + close.repeat(depth));

const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  {
    weight: 3,
    arbitrary: hostileNumber.map((text) => (/^-?\d/.test(text) && !/^-?0\d|x/.test(text) ? new Raw(text) : text)),
  },
  { weight: 1, arbitrary: hostileDate },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(null, true, false, {}, [], [null], [[]], { increment: 1 }, { set: "x" }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(["t1", "t1"], ["t1", "missing"], { id: "bob" }, "bob", "p-ann", "missing"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['"\\ud800"', '"\\udc00x"', '"\\u0000"', '"\\ud83d\\ude00"'].map((text) => new Raw(text)),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(5, 19, 20, 21, 200, 100_000), fc.constantFrom(["[", "]"], ['{"a":', "}"]))
      .map(([depth, [open = "", close = ""]]) => nested(depth, open, close, "1")),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
);

/** JSON of entries, in which a key may appear twice. */
function write(entries: readonly (readonly [string, unknown])[]): string {
  const members = entries.map(
    ([key, value]) => `${JSON.stringify(key)}:${value instanceof Raw ? value.text : JSON.stringify(value)}`,
  );
  return `{${members.join()}}`;
}

const rawNumber = hostileNumber.map(
  (text) => new Raw(Number.isNaN(Number(text)) || /^-?0\d|[x+I]/.test(text) ? "1" : text),
);
const MISSHAPEN = [
  '{"a":"\\u0000"}',
  '{"\\u0000":1}',
  '{"a":{"__proto__":{"b":1}}}',
  '{"a":["\\udfff"]}',
  "[1e999]",
  '{"":""}',
  '"text"',
  "0",
];

/** Values that a field almost accepts. */
const aimed: fc.Arbitrary<readonly [string, unknown]> = fc.oneof(
  fc.tuple(fc.constantFrom("due", "at", "createdAt", "deletedAt"), hostileDate),
  fc.tuple(fc.constantFrom("views", "rating", "number", "version", "salary"), rawNumber),
  fc.tuple(
    fc.constantFrom("meta", "anything"),
    fc.constantFrom(...MISSHAPEN).map((text) => new Raw(text)),
  ),
  fc.tuple(fc.constantFrom("title", "slug", "body", "text", "secret", "name", "email", "password", "ssn"), hostileText),
  fc.tuple(fc.constantFrom("tagsIds", "ids", "data"), hostileJson),
  fc.tuple(
    fc.constantFrom("ids"),
    fc.array(fc.constantFrom("p-ann", "p-bob", "n-ann", "missing", "", "p-ann\u0000"), { maxLength: 4 }),
  ),
);

/** Maps entry positions to their replacements; undefined removes the entry. */
const changes = fc.array(fc.tuple(fc.nat(20), fc.option(hostileJson, { freq: 6, nil: undefined })), { maxLength: 1 });
const additions = fc.array(fc.oneof(fc.tuple(fc.constantFrom(...KEYS), hostileJson), aimed), { maxLength: 1 });

/** The body of a template with values moved, of other kinds, duplicated or missing. */
const mutated = fc
  .tuple(fc.constantFrom(...TEMPLATES), changes, fc.array(aimed, { maxLength: 2 }), additions)
  .map(([template, changed, replaced, added]) => {
    const entries: [string, unknown][] = Object.entries(template.body);
    for (const [index, value] of changed) {
      const entry = entries[index % Math.max(1, entries.length)];
      if (entry === undefined) continue;
      if (value === undefined) entries.splice(entries.indexOf(entry), 1);
      else entry[1] = value;
    }
    for (const [key, value] of replaced) {
      const entry = entries.find(([name]) => name === key);
      if (entry !== undefined) entry[1] = value;
    }
    return { template, text: write([...entries, ...added]) };
  });

/** The position and the kind of damage in a body. */
const damage = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.record({
      at: fc.nat(),
      cut: fc.integer({ min: 0, max: 20 }),
      insert: fc.uint8Array({ maxLength: 4 }),
      ends: fc.boolean(),
    }),
  },
);

const TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "",
  "application/jsonx",
].concat(
  [
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
    "application/JSON",
    "application/vnd.api+json",
  ],
  ["text/csv", "application/x-ndjson", "application/json, text/plain", "application/json;", "/", "\xff"],
);
const types = fc.oneof({ weight: 12, arbitrary: fc.constant("application/json") }, fc.constantFrom(...TYPES));
const ENCODINGS = ["Content-Encoding: gzip", "Content-Encoding: identity", "Content-Encoding: br, gzip"];

export const bodies: fc.Arbitrary<FuzzInput> = fc
  .record({
    caller: callers,
    request: mutated,
    damage,
    type: types,
    headers: fc.oneof(
      { weight: 20, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.constantFrom(...ENCODINGS).map((line) => [line]) },
    ),
  })
  .map(({ caller, request: { template, text }, damage: hurt, type, headers }) => {
    const { method, target } = template;
    const intact = Buffer.from(text);
    return whole({ caller, method, target, headers, type, body: hurt === undefined ? intact : broken(intact, hurt) });
  });

function broken(
  bytes: Buffer,
  { at, cut, insert, ends }: { at: number; cut: number; insert: Uint8Array; ends: boolean },
): Buffer {
  const place = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, place), insert, ends ? Buffer.alloc(0) : bytes.subarray(place + cut)]);
}

const row = fc.array(hostileText, { maxLength: 4 }).map((cells) => cells.join());
const jsonRow = additions.map(write);
const head = fc.constantFrom("title,slug", "title,slug,meta", "title", "Title,x", '"title","slug"', "title;slug", "");

/** Files to import; some of their lines are valid. */
export const imports: fc.Arbitrary<FuzzInput> = fc
  .record({
    caller: callers,
    type: fc.constantFrom("text/csv", "application/x-ndjson", "application/json"),
    query: fc.constantFrom("", "?dryRun=true", "?dryRun=1"),
    head,
    rows: fc.array(
      fc.oneof(
        row,
        jsonRow,
        fc.constantFrom("Good title,good-slug", '{"title":"Good title"}', '{"title":"By ann","slug":"by-ann"}'),
      ),
      {
        maxLength: 6,
      },
    ),
    damage,
  })
  .map(({ caller, type, query, head: first, rows, damage: hurt }) => {
    const text =
      type === "text/csv"
        ? [first, ...rows].join("\n")
        : type === "application/json"
          ? `[${rows.join()}]`
          : rows.join("\n");
    const bytes = Buffer.from(text.toWellFormed());
    const body = hurt === undefined ? bytes : broken(bytes, hurt);
    return whole({ caller, method: "POST", target: `/api/posts/import${query}`, type, body });
  });
