import { readFileSync } from "node:fs";
import * as door from "keelson";
import {
  belongsTo,
  bool,
  datetime,
  entity,
  hasMany,
  int,
  json,
  keelson,
  manyToMany,
  memoryDriver,
  string,
} from "keelson";
import { describe, expect, it, onTestFinished } from "vitest";
import { request, startApp } from "../support/http.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { hookNames, pluginOptions } from "./concepts/members-of.ts";

const page = readFileSync(new URL("../../docs/comparison.md", import.meta.url), "utf8");
const [text = "", sources = ""] = page.split("## Sources");
const read = (path: string): string => readFileSync(`${repositoryRoot}/${path}`, "utf8");

describe("docs/comparison.md", () => {
  it("has a source with a URL for each number, and uses each", () => {
    const listed = [...sources.matchAll(/^(\d+)\. (.*)$/gm)].map(([, number, rest]) => [Number(number), rest] as const);
    const used = new Set([...text.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number)));
    expect(listed.map(([number]) => number)).toEqual([...used].sort((a, b) => a - b));
    for (const [, rest] of listed) expect(rest).toMatch(/\]\(https:\/\//);
  });

  it("names the measured version of each peer", () => {
    const rows = /## Speed[\s\S]*?\n\|---.*\n([\s\S]*?)\n\n/.exec(text)?.[1]?.split("\n") ?? [];
    expect(rows.length).toBeGreaterThan(3);
    for (const row of rows) expect(row).toMatch(/^\| [A-Z].* \d+\.\d+(\.\d+)?.* \|/);
  });

  it("describes Keelson's real defaults: denial, and 400 for unknown names", async () => {
    const open = entity("open", { name: string }).rules({ read: ["everyone"] });
    const closed = entity("closed", { name: string });
    const api = keelson({ entities: [open, closed], driver: memoryDriver() });
    const { url, close } = await startApp(api);
    onTestFinished(close);
    expect((await request(url, "GET", "/api/opens?zzz=1")).status).toBe(400);
    expect((await request(url, "GET", "/api/closeds")).status).toBe(401);
    expect((await request(url, "POST", "/api/opens", { body: { name: "x" } })).status).toBe(401);
  });

  it("describes the real contents of Keelson's plugins", () => {
    const [, table = ""] = /## Plugins side by side([\s\S]*?)\n## /.exec(text) ?? [];
    const own = table
      .split("\n")
      .filter((row) => row.startsWith("|"))
      .map((row) => row.split("|").at(-2) as string);
    const named = own.flatMap((cell) =>
      [...cell.matchAll(/`([a-z]+:[a-z]+|[A-Za-z]+)`/g)].map(([, name]) => name as string),
    );
    expect(named.length).toBeGreaterThan(12);
    const known = [...pluginOptions(), ...hookNames(), "appliesTo", "errorFormat"];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
    expect(hookNames().filter((name) => name.startsWith("operation:"))).toHaveLength(11);
  });

  it("describes what Keelson has and lacks", () => {
    for (const name of ["RateLimitedError", "prisma", "postgres", "embedded", "defaultPlugins"])
      expect(door).toHaveProperty(name);
    const { version, dependencies, peerDependencies } = JSON.parse(read("package.json"));
    expect(version).toMatch(/^0\.1\./);
    expect(text).toContain("| Keelson 0.1 |");
    const libraries = Object.keys({ ...dependencies, ...peerDependencies }).join(" ");
    expect(libraries).not.toMatch(/graphql|\bws\b|socket|mongo|multer|busboy/);
    expect(read("test/clients/react-admin.test.ts")).toContain("ra-data-json-server");
    expect(read("test/clients/refine.test.ts")).toContain("@refinedev/simple-rest");
  });

  it("gives the real response to each request of the comparison", async () => {
    const every = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
    const author = entity("author", { name: string, articles: hasMany(() => article) }).rules(every);
    const article = entity("article", {
      title: string.searchable(),
      rating: int,
      published: bool.default(true),
      meta: json.optional(),
      placedAt: datetime.default(() => new Date()),
      author: belongsTo(() => author),
      tags: manyToMany(() => tag),
    }).rules(every);
    const tag = entity("tag", { word: string.unique(), articles: manyToMany(() => article) }).rules(every);
    const api = keelson({ entities: [author, article, tag], driver: memoryDriver() });
    const system = api.asSystem();
    for (const id of ["t1", "t2"]) await system.tag.create({ id, word: id });
    await system.author.create({ id: "s", name: "Sidney" });
    for (const [index, title] of ["A fat cat", "Fat cats", "Dogs", "Cat"].entries())
      await system.article.create({
        id: `a${index}`,
        title,
        rating: index + 2,
        authorId: "s",
        meta: { theme: "dark" },
      });
    const { url, close } = await startApp(api);
    onTestFinished(close);
    const requests = [...text.matchAll(/\| `(GET|POST|PUT|PATCH) (\S+?)(?: ([[{].*))?` \|$/gm)];
    expect(requests.length).toBeGreaterThan(15);
    const empty: string[] = [];
    for (const [, method = "", path = "", body] of requests) {
      const answer = await request(url, method, path, body === undefined ? {} : { body: JSON.parse(body) });
      expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)]);
      if (Array.isArray(answer.json) && answer.json.length === 0) empty.push(path);
    }
    // All articles are published, and one of the author's has a low rating.
    expect(empty.every((path) => path.includes("_where"))).toBe(true);
  });
});
