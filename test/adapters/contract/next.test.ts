import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { OwnAnswers } from "../../support/adapter-case.ts";
import { type StartHost, testAdapter } from "../../support/adapter-contract.ts";
import { buildNextApp, type NextApp } from "../next/next-app.ts";

let app: NextApp;
beforeAll(async () => {
  app = await buildNextApp();
});
afterAll(() => app?.remove());

/** `next start`, with the API in a folder. */
const inside =
  (folder: string): StartHost =>
  async ({ slow } = {}) => {
    const { port, close } = await app.start({ SLOW: slow ? "1" : "" });
    return { port, close, root: folder, endpoints: folder };
  };

/** Responses of Next, or changes it makes to a request, before any handler runs. */
const own = (folder: string): OwnAnswers => {
  const redirected = (why: string, path: string) => ({ why, status: 308, headers: { location: folder + path } });
  const resolved = (headers?: OwnAnswers[string]["headers"]) => ({ why: "Next resolves dots", status: 200, headers });
  const unescaped = { why: "Next fails on an escape that it cannot decode", status: 500 };
  const slashes = "Next redirects to the path with single slashes";
  const last = "Next redirects to the path without its last slash, after it has resolved dots";
  const header = "node drops the second line, and Next knows only what is left";
  return {
    "a trailing slash": redirected(last, "/films"),
    "GET …//films is refused": redirected(slashes, "/films"),
    "GET …/films//f1 is refused": redirected(slashes, "/films/f1"),
    "GET …/films/f1// is refused": redirected(slashes, "/films/f1/"),
    "GET …/films\\f1 is refused": redirected("Next takes a backslash for a slash", "/films/f1"),
    "GET …/films/./f1 is refused": resolved({ "x-total-count": undefined }),
    "GET …/films/../films is refused": resolved({ "x-total-count": "3" }),
    "GET …/films/%2e%2e/films is refused": resolved({ "x-total-count": "3" }),
    "GET …/films/.. is refused": redirected(last, ""),
    "GET …/films/.%2E is refused": redirected(last, ""),
    "GET …/films/%2e is refused": redirected(last, "/films"),
    "GET …/../films is refused": { why: "Next resolves dots, and there is no such page", status: 404 },
    "GET …/films/%zz is refused": unescaped,
    "GET …/films/% is refused": unescaped,
    "GET …/films/%E0%A4%A is refused": unescaped,
    "GET …/films/%C3%28 is refused": unescaped,
    "GET …/films?title=%E0%A4%A is refused": {
      why: "Next writes the query anew, with U+FFFD for what it cannot decode",
      status: 200,
      headers: { "x-total-count": "0" },
    },
    "a page of a filtered, sorted list": {
      why: "Next writes the query anew, and leaves out escapes that it has no need of",
      status: 200,
      headers: { "x-total-count": "1" },
    },
    "a target in absolute form": {
      why: "Next redirects to the path with single slashes, of which a scheme has two",
      status: 308,
      headers: { location: `http://test.invalid${folder}/films/f1` },
    },
    "dots in what follows": resolved(),
    TRACE: { why: "Next cannot make a Request with this method", status: 500 },
    PROPFIND: { why: "Next has no handlers for this method", status: 400 },
    "two Authorization lines": { why: header, status: 200, headers: { "x-total-count": "0" } },
    "the same Authorization twice": { why: header, status: 200, headers: { "x-total-count": "0" } },
    "two types": { why: header, status: 201 },
    "the same type twice": { why: header, status: 201 },
  };
};

/** Next adds to Vary, and sends every body in chunks. */
const options = { volatile: ["vary", "content-length", "transfer-encoding"] };

testAdapter("Next in app/api/[...path]", inside("/api"), { own: own("/api"), ...options });
testAdapter("Next in app/v1/deep/[...rest]", inside("/v1/deep"), { own: own("/v1/deep"), ...options });

it("leaves paths outside the folder to Next, and keeps the API's Vary", async () => {
  const { port, close } = await app.start();
  onTestFinished(close);
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const [films, elsewhere] = await Promise.all([get("/api/films"), get("/films")]);
  expect(films.headers.get("vary")).toContain("Authorization, Cookie, Origin");
  expect([elsewhere.status, elsewhere.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
});
