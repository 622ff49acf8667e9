import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { keelson, memoryDriver, noopLogger } from "keelson";
import { type StudioOptions, studio } from "keelson/studio";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { builtStudio } from "../../../scripts/studio-files.ts";
import { createShop } from "../../support/studio/shop.ts";

async function shopWith(options: StudioOptions = {}, production = false) {
  const api = await createShop(options, { production });
  onTestFinished(() => api.close());
  return (path: string, headers: Readonly<Record<string, string>> = {}) =>
    api.fetch(new Request(`http://localhost${path}`, { headers }));
}

describe("studio", () => {
  it("adds a page, its files and one document, and nothing else", async () => {
    const { seen } = await createFakeKernel().use(studio());
    expect([...seen.routes].sort()).toEqual(["GET /studio", "GET /studio/:file", "GET /studio/app.json"]);
    expect(seen).toMatchObject({ hooks: [], requires: ["rules"], problems: [] });
  });

  it("is disabled in production", async () => {
    const get = await shopWith({}, true);
    for (const path of ["/studio", "/studio/app.json", "/studio/studio.js"]) expect((await get(path)).status).toBe(404);
  });

  it("is enabled for the callers that its rules name", async () => {
    const get = await shopWith({ rules: ["admin"] }, true);
    expect((await get("/studio")).status).toBe(200);
    expect((await get("/studio/app.json")).status).toBe(401);
    expect((await get("/studio/app.json", { authorization: "Bearer ann" })).status).toBe(403);
    expect((await get("/studio/app.json", { authorization: "Bearer root" })).status).toBe(200);
  });

  it("allows its page to run only its own files, and nothing inline", async () => {
    const get = await shopWith();
    const page = await get("/studio");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son\w+=/);
    for (const [, file] of html.matchAll(/(?:src|href)="(studio\/[^"]+)"/g))
      expect((await get(`/${file}`)).status).toBe(200);
  });

  it("sends only its own files, and a cached file not again", async () => {
    const get = await shopWith();
    for (const path of ["/studio/LICENSE-preact", "/studio/toString", "/studio/x.js"])
      expect((await get(path)).status).toBe(404);
    expect((await get("/studio/..%2Fpackage.json")).status).toBe(400);
    const first = await get("/studio/studio.js");
    expect(first.headers.get("content-type")).toContain("text/javascript");
    const etag = first.headers.get("etag") ?? "";
    expect((await get("/studio/studio.js", { "if-none-match": etag })).status).toBe(304);
  });

  it("escapes the values in its page", async () => {
    const get = await shopWith({ title: '<b>"Shop"</b>', words: { save: '"><script>' } });
    const html = await (await get("/studio")).text();
    expect(html).not.toMatch(/<b>|"><script>/);
    expect(html).toContain("&lt;b&gt;&quot;Shop&quot;&lt;/b&gt;");
  });

  it("may use an API of another origin, which its policy names", async () => {
    const get = await shopWith({ api: "https://api.example" });
    const page = await get("/studio");
    expect(page.headers.get("content-security-policy")).toContain("connect-src 'self' https://api.example;");
    expect(await page.text()).toContain("https://api.example/studio/app.json");
  });

  it("reports invalid options", async () => {
    const options = {
      path: "studio/",
      api: "https://api.example/v1",
      charts: [
        { entity: "product", group: "state", measure: "sum=prices" },
        { entity: "products", group: "state" },
      ],
      login: { entity: "maker", action: "login" },
      colour: "red",
    } as StudioOptions;
    const problem = await createShop(options).then(
      () => "",
      (error: Error) => error.message,
    );
    expect(problem).toContain('the path "studio/" must begin with /');
    expect(problem).toContain('api takes an origin such as "https://api.example"');
    expect(problem).toContain('product has no field "prices". Did you mean "price"?');
    expect(problem).toContain('there is no entity "products". Did you mean "product"?');
    expect(problem).toContain('maker has no action "login"');
    expect(problem).toContain('"colour"');
  });

  it("has a login form if an anonymous caller may use an action of that name", async () => {
    const { action, entity, string } = await import("keelson");
    const member = entity("member", { name: string }).actions({
      login: action()
        .rules("everyone")
        .input({ name: string, password: string })
        .handler(() => ({ token: "x" })),
      other: action()
        .rules("everyone")
        .input({ name: string })
        .handler(() => ({ jwt: "x" })),
    });
    const formOf = async (options: StudioOptions) => {
      const plugins = [studio(options)];
      const api = keelson({ entities: [member], driver: memoryDriver(), logger: noopLogger, plugins });
      onTestFinished(() => api.close());
      const html = await (await api.fetch(new Request("http://localhost/studio"))).text();
      const given = /data-given="([^"]*)"/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? "";
      return JSON.parse(given).login;
    };
    expect(await formOf({})).toMatchObject({ path: "/api/members/login", token: "token" });
    const chosen = { entity: "member", action: "other", token: "jwt" };
    expect(await formOf({ login: chosen })).toMatchObject({ path: "/api/members/other", token: "jwt" });
  });

  it("loads at most 350 kB at first, compressed, and the rest later", async () => {
    const folder = await builtStudio();
    const sizes = new Map(
      readdirSync(folder).map((name) => [name, gzipSync(readFileSync(join(folder, name))).length] as const),
    );
    const entry = readFileSync(join(folder, "studio.js"), "utf8");
    const first = [
      "studio.js",
      "studio.css",
      ...[...entry.matchAll(/from"\.\/([^"]+)"/g)].map(([, name = ""]) => name),
    ];
    const initial = first.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
    expect(initial).toBeGreaterThan(5_000);
    expect(initial).toBeLessThan(350_000);
    expect([...sizes.keys()].filter((name) => name.endsWith(".js") && !first.includes(name)).length).toBeGreaterThan(2);
  });
});
