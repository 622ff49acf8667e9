import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endProcess, type RunningExample, startScript } from "../support/example-process.ts";
import { request } from "../support/http.ts";

let example: RunningExample;

beforeAll(async () => {
  example = await startScript("examples/react-admin/start.ts", {});
});
afterAll(() => endProcess(example));

// The page in a browser is tested in test/browser/react-admin.test.ts.
describe("examples/react-admin", () => {
  it("serves page and API on one port, and forbids framing the page", async () => {
    const page = await fetch(`${example.url}/`);
    expect([page.status, new URL(page.url).pathname]).toEqual([200, "/admin/"]);
    expect(page.headers.get("content-security-policy")).toMatch(/default-src 'self';.*frame-ancestors 'none'/);
    const html = await page.text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(addresses).toEqual(["data:,", "main.js"]);
    expect((await fetch(new URL("main.js", page.url))).headers.get("content-type")).toContain("javascript");
    const films = await request(example.url, "GET", "/api/films?_start=0&_end=10&_sort=id&_order=ASC");
    expect([films.status, films.json.length, films.headers.get("x-total-count")]).toEqual([200, 10, "175"]);
  });

  it("ends on a signal", async () => {
    example.child.kill("SIGTERM");
    expect(await example.ended).toBe(0);
  });
});
