import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { featuresOf } from "../../src/gate/features.ts";
import { entity, type Keelson, keelson, memoryDriver, noopLogger, type Plugin, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { hookNames, pluginContext, pluginOptions } from "./concepts/members-of.ts";

const page = openPage("guides/write-a-plugin");
let app: { api: Keelson };
let url = "";
let close: () => Promise<void>;
const ann = { "x-user": "ann" };

beforeAll(async () => {
  app = await page.load("app.ts");
  ({ url, close } = await startApp(app.api));
});
afterAll(async () => {
  await close();
  page.remove();
});

/** Words in a column of the table with this header. @param column the first is 1 */
function rowsOf(head: string, column = 1): string[] {
  const table = page.text.slice(page.text.indexOf(head)).split("\n\n", 1)[0] as string;
  const cells = table
    .split("\n")
    .slice(2)
    .map((row) => row.split("|")[column] as string);
  return cells.flatMap((cell) => [...cell.matchAll(/`([\w.:-]+)/g)].map(([, name]) => name as string));
}

describe("docs/guides/write-a-plugin.md", () => {
  it("names all parts of a plugin, and all of its context", () => {
    expect(rowsOf("| part |").sort()).toEqual(pluginOptions().sort());
    expect(rowsOf("| of the context |").sort()).toEqual(pluginContext().sort());
  });

  it("describes the use of every hook", () => {
    const table = page.text.slice(page.text.indexOf("| to do |")).split("\n\n", 1)[0] as string;
    const named = [...table.matchAll(/`([a-z]+:[a-z]+)`/g)].map(([, name]) => name as string);
    expect(named.sort()).toEqual(hookNames().sort());
  });

  it("names existing services", () => {
    const services = rowsOf("| token |", 2);
    expect(services).toContain("query");
    for (const service of services) expect([service, app.api.hasService(service)]).toEqual([service, true]);
  });

  it("names all capabilities", () => {
    const source = readFileSync(join(repositoryRoot, "src/gate/features.ts"), "utf8");
    const known = [...source.matchAll(/(?:add\(|name: )"([\w-]+)"/g)].map(([, name]) => name as string);
    expect(known.length).toBeGreaterThan(8);
    const sentence = page.text.slice(page.text.indexOf("The capabilities are")).split("\n\n", 1)[0] as string;
    const named = [...sentence.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
    expect(named.sort()).toEqual(known.sort());
    expect(featuresOf(entity("x", { a: string.omit() }).build())).toMatchObject([{ name: "omit" }]);
  });

  it("begins with a plugin that responds to requests", async () => {
    const { hello } = await page.load<{ hello(options: object): Plugin }>("hello.ts");
    const { as, close: end } = createTestApp({ entities: [], plugins: [hello({ greeting: "Ahoy" })] });
    expect((await as(null).request("GET", "/hello/Ann")).body).toEqual({ text: "Ahoy, Ann" });
    await end();
  });

  it("has a first version with the documented gaps", async () => {
    const { slugHook } = await page.load<{ slugHook: Plugin }>("slug-hook.ts");
    const post = entity("post", { title: string, slug: string.optional().unique() });
    const { api, close: end } = createTestApp({ entities: [post], plugins: [slugHook], logger: noopLogger });
    const { post: posts } = api.asSystem();
    expect(await posts.create({ title: "Hello World" })).toMatchObject({ slug: "hello-world" });
    await expect(posts.create({ title: "Hello World" })).rejects.toMatchObject({ status: 409 });
    await end();
  });

  it("creates unique slugs, for requests and imports, and finds records by them", async () => {
    const create = (title: string) =>
      request(url, "POST", "/api/posts", { body: { title, slug: "mine" }, headers: ann });
    const { status, json } = await create("Crème brûlée");
    expect([status, json.slug]).toEqual([201, "creme-brulee"]);
    expect((await create("Crème brûlée!")).json.slug).toBe("creme-brulee-2");
    const body = ["Row", "Row"].map((title) => ({ title }));
    expect((await request(url, "POST", "/api/posts/import", { body, headers: ann })).json.created).toBe(2);
    const rows = (await request(url, "GET", "/api/posts?title=Row&_sort=slug")).json as { slug: string }[];
    expect(rows.map((row) => row.slug)).toEqual(["row", "row-2"]);
    expect((await request(url, "GET", "/api/posts/by-slug/creme-brulee")).json).toEqual(json);
    expect((await request(url, "GET", "/api/posts/by-slug/none")).status).toBe(404);
    expect((await request(url, "POST", "/api/posts", { body: { title: "x" } })).status).toBe(401);
    expect(app.api.resolve<{ preview(text: string): string }>("slugs").preview("A B")).toBe("a-b");
  });

  it("reports invalid options and fields", async () => {
    const { slug, slugs } = await page.load<{ slug(): typeof string; slugs(options: object): Plugin }>("slugs.ts");
    const start = (fields: Parameters<typeof entity>[1], options: object) =>
      keelson({ entities: [entity("post", fields)], driver: memoryDriver(), plugins: [slugs(options)] });
    expect(() => start({ title: string, slug: slug() }, { maxLength: 3 })).toThrow("from 8 to 200");
    expect(() => start({ title: string }, {})).toThrow("no entity has a field made by slug()");
    expect(() => start({ name: string, slug: slug() }, {})).toThrow('post has no field "title"');
    expect(() => start({ title: string.omit(), slug: slug() }, {})).toThrow("would show post.title");
  });
});
