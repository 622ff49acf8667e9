import fc from "fast-check";
import { bodies, imports } from "../support/fuzz/arbitraries/bodies.ts";
import { headers } from "../support/fuzz/arbitraries/headers.ts";
import { paths } from "../support/fuzz/arbitraries/paths.ts";
import { looseQuery, structuredQuery } from "../support/fuzz/arbitraries/queries.ts";
import type { CallerName } from "../support/fuzz/callers.ts";
import { type FuzzInput, whole } from "../support/fuzz/fuzz-input.ts";
import type { Message } from "../support/fuzz/message.ts";

/** Longer ones add nothing. */
const MOST_BYTES = 1_500;
const SEED = 1;

type Call = Omit<Message, "caller" | "body"> & { readonly json?: unknown; readonly text?: string };

const get = (target: string, ...lines: string[]): Call => ({ method: "GET", target, headers: lines });
const send = (method: string, target: string, json?: unknown, ...lines: string[]): Call => ({
  method,
  target,
  json,
  headers: lines,
});

const POST = {
  title: "A title",
  body: "Text",
  views: 3,
  rating: 4.5,
  due: "2026-05-01T00:00:00.000Z",
  meta: { a: [1] },
};

/** Each route in its intended use, and with the usual mistakes. */
const CALLS: readonly Call[] = [
  ...["users", "posts", "notes", "tags", "bares", "products", "orders", "audit-entries", "unknown"].flatMap((name) => [
    get(`/api/${name}`),
    // Entries of the audit log have random ids.
    ...(name === "audit-entries" ? [] : [get(`/api/${name}?_limit=1`)]),
    get(`/api/${name}?_page=1&_per_page=1&_sort=-id`),
    get(`/api/${name}/nothing`),
    send("OPTIONS", `/api/${name}`),
    send("HEAD", `/api/${name}`),
    send("POST", `/api/${name}`, {}),
    send("PUT", `/api/${name}/nothing`, {}),
    send("PATCH", `/api/${name}/nothing`, { x: 1 }),
    send("DELETE", `/api/${name}/nothing`),
  ]),
  get("/api/users/ann"),
  get("/api/users/ann?include=posts.tags"),
  get("/api/users?email=ann@corpus.invalid"),
  get("/api/users?ssn=ssn%20of%20ann"),
  get("/api/users?salary_gte=1"),
  get("/api/users/export?format=csv"),
  send("PATCH", "/api/users/ann", { name: "Ann", salary: 9, role: "admin" }),
  send("PATCH", "/api/users/ann", { password: "a changed one" }),
  send("POST", "/api/users", {
    name: "new",
    email: "New@corpus.invalid",
    password: "password",
    apiToken: "t",
    salary: 1,
    ssn: "x",
  }),
  send("POST", "/api/users", {
    name: "new",
    email: "ann@corpus.invalid",
    password: "password",
    apiToken: "t",
    salary: 1,
    ssn: "y",
  }),
  send("DELETE", "/api/users/ann"),
  get("/api/posts/p-ann"),
  get("/api/posts/p-ann?include=author,tags,parent&select=title"),
  get("/api/posts/p-ann", 'If-None-Match: "1"'),
  get("/api/posts?_sort=-views,title&_start=0&_end=2"),
  get("/api/posts?title_like=by&views_in=3,4&include=author"),
  get("/api/posts?tags.name=tag%20t1"),
  get("/api/posts?author.email=ann@corpus.invalid"),
  get("/api/posts?_after=broken"),
  get("/api/posts?_limit=0"),
  get("/api/posts?_limit=100000"),
  get("/api/posts?pin=1234"),
  get("/api/posts?archived=true"),
  get("/api/posts/count?published=false"),
  get("/api/posts/p-ann/exists"),
  get("/api/posts/deleted-ann/exists"),
  get("/api/posts/deleted-ann"),
  get("/api/posts/export?format=ndjson"),
  get("/api/posts/export?format=xml"),
  send("POST", "/api/posts", POST),
  send("POST", "/api/posts", { ...POST, slug: "by-ann" }),
  send("POST", "/api/posts", { ...POST, authorId: "bob" }),
  send("POST", "/api/posts", { ...POST, tagsIds: ["t1"] }),
  send("POST", "/api/posts", { ...POST, tagsIds: ["nothing"] }),
  send("POST", "/api/posts", { title: "x", views: "many", rating: 11, due: "soon", unknown: 1 }),
  send("POST", "/api/posts", { title: "forbidden" }),
  send("POST", "/api/posts", POST, "Idempotency-Key: one"),
  send("POST", "/api/posts", POST, "Idempotency-Key: one"),
  send("POST", "/api/posts", { ...POST, views: 4 }, "Idempotency-Key: one"),
  send("PATCH", "/api/posts/p-ann", { title: "Changed" }),
  send("PATCH", "/api/posts/p-ann", { title: "Changed again" }, 'If-Match: "1"'),
  send("PATCH", "/api/posts/p-ann", { title: "Too late" }, 'If-Match: "9"'),
  send("PATCH", "/api/posts/p-ann", { tagsIds: ["t2"] }),
  send("PATCH", "/api/posts/p-ann", { parentId: "p-bob" }),
  send("PATCH", "/api/posts/p-ann", {}),
  send("PATCH", "/api/posts/p-ann", { slug: "by-bob" }),
  send("PUT", "/api/posts/p-ann", { ...POST, slug: "put" }),
  send("PUT", "/api/posts/p-ann", { id: "p-bob", ...POST }),
  send("POST", "/api/posts/p-ann/toggle-published"),
  send("POST", "/api/posts/p-ann/archive"),
  send("POST", "/api/posts/archived-ann/unarchive"),
  send("DELETE", "/api/posts/p-ann/soft"),
  send("POST", "/api/posts/deleted-ann/restore"),
  send("POST", "/api/posts/p-ann/clone", {}),
  send("POST", "/api/posts/p-ann/rename", { title: "Renamed" }),
  send("POST", "/api/posts/p-ann/rename", { title: "" }),
  send("PUT", "/api/posts/bulk", { ids: ["p-ann", "archived-ann"], data: { views: 9 } }),
  send("PUT", "/api/posts/bulk", { ids: ["p-ann", "p-bob"], data: { views: 9 } }),
  send("DELETE", "/api/posts/bulk", { ids: ["p-ann", "archived-ann"] }),
  { method: "POST", target: "/api/posts/import", type: "text/csv", text: "title,slug\nOne title,one\nx,two\n" },
  { method: "POST", target: "/api/posts/import", json: [{ title: "By ann", slug: "by-ann" }, { title: "New title" }] },
  send("DELETE", "/api/posts/p-ann"),
  get("/api/notes/n-ann"),
  get("/api/notes?text_like=of"),
  send("POST", "/api/notes", { text: "new", secret: "hidden" }),
  send("PATCH", "/api/notes/n-ann", { secret: "other" }),
  send("POST", "/api/notes/n-ann/clone"),
  send("DELETE", "/api/notes/n-ann"),
  send("POST", "/api/tags", { name: "tag t1" }),
  send("POST", "/api/tags", { name: "new", postsIds: ["p-ann"] }),
  get("/api/products/soap?include=subscription.plan"),
  get("/api/products?include=subscription"),
  get("/api/products?subscription.title=x"),
  send("POST", "/api/orders/place", { productId: "soap", count: 1, card: "1111222233334444" }),
  send("POST", "/api/orders/place", { productId: "soap", count: 99, card: "1111222233334444" }),
  send("POST", "/api/orders/place", { productId: "soap", count: 1, card: "0000222233334444" }),
  send("POST", "/api/orders/place", { productId: "sold", count: 0, card: "1" }),
  send("POST", "/api/orders/place", { productId: "soap", count: 2, card: "1111222233334444" }, "Idempotency-Key: two"),
  get("/api/orders?include=product,customer"),
  get("/api/audit-entries?entity=post&_sort=at"),
  get("/openapi.json"),
  get("/docs"),
  get("/health"),
  get("/"),
  get("/api"),
  send("POST", "/api/echo", { a: [null, true, 1.5, "ü"] }),
  send("POST", "/echo", { a: [null, true, 1.5, "ü"] }),
  send("OPTIONS", "/api/posts", undefined, "Origin: https://a.invalid", "Access-Control-Request-Method: PATCH"),
  send("POST", "/api/posts/p-ann/archive", undefined, "Sec-Fetch-Site: cross-site"),
  { method: "POST", target: "/api/posts", type: "text/plain", text: "title=x" },
  { method: "POST", target: "/api/posts", text: "{broken" },
  { method: "POST", target: "/api/posts", text: '{"__proto__":{"role":"admin"},"title":"A title"}' },
];

const CALLERS: readonly CallerName[] = ["anonymous", "ann", "bob", "root"];

const CLASSES: readonly (readonly [fc.Arbitrary<FuzzInput>, number])[] = [
  [structuredQuery, 440],
  [looseQuery, 80],
  [bodies, 386],
  [imports, 60],
  [paths, 200],
  [headers, 110],
];

/** About two thousand requests: each call by each caller, and random ones. */
export function makeRequests(): readonly FuzzInput[] {
  const meant = CALLERS.flatMap((caller) =>
    CALLS.map(({ json, text, ...rest }) => {
      const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
      return whole({ caller, ...rest, body: body === undefined ? undefined : Buffer.from(body) });
    }),
  );
  const random = CLASSES.flatMap(([inputs, count]) => {
    const short = inputs.filter(({ isWhole, bytes }) => isWhole && bytes.length <= MOST_BYTES);
    return fc.sample(short, { seed: SEED, numRuns: count });
  });
  return [...meant, ...random];
}
