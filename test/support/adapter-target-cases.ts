import { type AdapterCase, ada, bare } from "./adapter-case.ts";
import { requestBytes } from "./http.ts";

const refused = (path: string): AdapterCase => ({
  title: `GET …${path} is refused`,
  bytes: bare("GET", path),
  status: 400,
  code: "BAD_REQUEST",
});

const missing = (path: string): AdapterCase => ({
  title: `GET …${path} is not there`,
  bytes: bare("GET", path),
  status: 404,
  code: "NOT_FOUND",
});

/** Requests without a body: methods, paths, queries and headers. */
export const TARGET_CASES: readonly AdapterCase[] = [
  { title: "a list", bytes: bare("GET", "/films"), status: 200, headers: { "x-total-count": "3" } },
  {
    title: "a page of a filtered, sorted list",
    bytes: bare("GET", "/films?year_gte=1980&title_like=%42R&_sort=-year&_limit=1&_=123"),
    status: 200,
    headers: { "x-total-count": "1" },
  },
  { title: "a record", bytes: bare("GET", "/films/f1"), status: 200 },
  { title: "an action of the list", bytes: bare("GET", "/films/count?year_gte=1980"), status: 200 },
  {
    title: "an export as JSON",
    bytes: bare("GET", "/films/export?_sort=id"),
    status: 200,
    headers: { "content-length": undefined },
  },
  {
    title: "an export as CSV",
    bytes: bare("GET", "/films/export?_sort=id&format=csv"),
    status: 200,
    headers: { "content-type": "text/csv; charset=utf-8", "content-length": undefined },
  },
  { title: "HEAD of an export", bytes: bare("HEAD", "/films/export"), status: 200 },
  {
    title: "an action by the wrong method",
    bytes: bare("GET", "/films/f1/rename"),
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    headers: { allow: "POST, OPTIONS" },
  },
  { title: "a trailing slash", bytes: bare("GET", "/films/"), status: 200 },
  {
    title: "a value given twice",
    bytes: bare("GET", "/films?year=1979&year=1985"),
    status: 200,
    headers: { "x-total-count": "2" },
  },

  {
    title: "HEAD of a list",
    bytes: bare("HEAD", "/films"),
    status: 200,
    headers: { "x-total-count": "3", "transfer-encoding": undefined },
  },
  { title: "HEAD of a record", bytes: bare("HEAD", "/films/f1"), status: 200 },
  { title: "HEAD of what is not there", bytes: bare("HEAD", "/films/nobody"), status: 404 },
  { title: "OPTIONS", bytes: bare("OPTIONS", "/films"), status: 204, headers: { "content-length": undefined } },
  { title: "OPTIONS of a record", bytes: bare("OPTIONS", "/films/f1"), status: 204 },
  { title: "OPTIONS of what is not there", bytes: bare("OPTIONS", "/nowhere"), status: 404, code: "NOT_FOUND" },
  { title: "TRACE", bytes: bare("TRACE", "/films"), status: 405, code: "METHOD_NOT_ALLOWED" },
  { title: "PROPFIND", bytes: bare("PROPFIND", "/films/f1"), status: 405, code: "METHOD_NOT_ALLOWED" },
  { title: "DELETE of a list", bytes: bare("DELETE", "/films"), status: 405, code: "METHOD_NOT_ALLOWED" },

  missing("/films/nobody"),
  missing("/nowhere"),
  missing("/FILMS"),
  missing("/films/F1"),
  missing("/films/f1/more"),
  missing("/films;jsessionid=1"),
  missing("/films/f1;v=1"),
  missing("/films/%25"),
  missing("/films/a%252Fb"),
  refused("//films"),
  refused("/films//f1"),
  refused("/films/f1//"),
  refused("/films/./f1"),
  refused("/films/../films"),
  refused("/../films"),
  refused("/films/.."),
  refused("/films/%2e%2e/films"),
  refused("/films/.%2E"),
  refused("/films/%2e"),
  refused("/films/a%2Fb"),
  refused("/films/a%5Cb"),
  refused("/films\\f1"),
  refused("/films/a%00b"),
  refused("/films/a%0Ab"),
  refused("/films/%zz"),
  refused("/films/%"),
  refused("/films/%E0%A4%A"),
  refused("/films/%C3%28"),
  refused(`/films/${"a".repeat(9_000)}`),
  refused("/films?title=%E0%A4%A"),
  refused("/films?_limit=1&_limit=2"),
  refused("/films?titel=x"),
  refused("/films?title[not]=x"),
  refused("/films?year=x"),

  {
    title: "a target in absolute form",
    bytes: ({ root }) => requestBytes("GET", `http://test.invalid${root}/films/f1`),
    status: 200,
  },
  {
    title: "a Host that is no host",
    bytes: ({ root }) => requestBytes("GET", `${root}/films/f1`).replace("test.invalid", "a/b?c"),
    status: 200,
  },
  {
    title: "an error to a browser",
    bytes: bare("GET", "/films/x", "Accept: text/html"),
    status: 404,
    code: "NOT_FOUND",
  },
  {
    title: "an error as problem details",
    bytes: bare("GET", "/films/x", "Accept: application/problem+json"),
    status: 404,
    code: "NOT_FOUND",
    headers: { "content-type": "application/problem+json" },
  },
  { title: "one Authorization", bytes: bare("GET", "/notes", ada), status: 200, headers: { "x-total-count": "0" } },
  { title: "no Authorization", bytes: bare("GET", "/notes"), status: 401, code: "UNAUTHENTICATED" },
  {
    title: "two Authorization lines",
    bytes: bare("GET", "/notes", ada, "Authorization: Bearer bob"),
    status: 401,
    code: "UNAUTHENTICATED",
  },
  {
    title: "the same Authorization twice",
    bytes: bare("GET", "/notes", ada, ada),
    status: 401,
    code: "UNAUTHENTICATED",
  },
  {
    title: "what a proxy might say, and nobody asked",
    bytes: bare(
      "GET",
      "/films",
      "X-Forwarded-Host: evil.example",
      "X-Forwarded-Prefix: /evil",
      "X-Original-URL: /evil",
    ),
    status: 200,
  },
];

const endpoint =
  (method: string, path: string) =>
  ({ endpoints }: { endpoints: string }) =>
    requestBytes(method, `${endpoints}/answers${path}`);

/** Responses of every kind. */
export const ANSWER_CASES: readonly AdapterCase[] = [
  {
    title: "two cookies",
    bytes: endpoint("GET", "/cookies"),
    status: 200,
    headers: { "set-cookie": "a=1; Path=/, b=2; Path=/" },
  },
  { title: "bytes", bytes: endpoint("GET", "/bytes"), status: 200, headers: { "content-length": "3" } },
  { title: "a stream", bytes: endpoint("GET", "/stream"), status: 200, headers: { "content-length": undefined } },
  { title: "HEAD of bytes", bytes: endpoint("HEAD", "/bytes"), status: 200 },
  { title: "HEAD of a stream", bytes: endpoint("HEAD", "/stream"), status: 200 },
  { title: "nothing", bytes: endpoint("POST", "/nothing"), status: 204, headers: { "content-length": undefined } },
  { title: "an empty body", bytes: endpoint("GET", "/empty"), status: 200, headers: { "content-length": "0" } },
  {
    title: "a redirect",
    bytes: endpoint("GET", "/redirect"),
    status: 303,
    headers: { location: "https://elsewhere.example/a%2Fb?c=%20d", "content-length": "0" },
  },
  {
    title: "a Response of fetch",
    bytes: endpoint("GET", "/fetched"),
    status: 200,
    headers: { "content-type": "text/plain" },
  },
  { title: "an answer that cannot be written", bytes: endpoint("GET", "/unwritable"), status: 500, code: "INTERNAL" },
];
