import { readFileSync } from "node:fs";
import * as door from "keelson";
import { entity, keelson, memoryDriver, string } from "keelson";
import { describe, expect, it, onTestFinished } from "vitest";
import { request, startApp } from "../support/http.ts";
import { repositoryRoot } from "../support/source-files.ts";

const page = readFileSync(new URL("../../docs/comparison.md", import.meta.url), "utf8");
const [text = "", sources = ""] = page.split("## Sources");
const read = (path: string): string => readFileSync(`${repositoryRoot}/${path}`, "utf8");

describe("docs/comparison.md", () => {
  it("has a source with an address for each number, and uses each", () => {
    const listed = [...sources.matchAll(/^(\d+)\. (.*)$/gm)].map(([, number, rest]) => [Number(number), rest] as const);
    const used = new Set([...text.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number)));
    expect(listed.map(([number]) => number)).toEqual([...used].sort((a, b) => a - b));
    for (const [, rest] of listed) expect(rest).toMatch(/\]\(https:\/\//);
  });

  it("names a version of each peer that was measured", () => {
    const rows = /## Speed[\s\S]*?\n\|---.*\n([\s\S]*?)\n\n/.exec(text)?.[1]?.split("\n") ?? [];
    expect(rows.length).toBeGreaterThan(3);
    for (const row of rows) expect(row).toMatch(/^\| [A-Z].* \d+\.\d+(\.\d+)?.* \|/);
  });

  it("says of Keelson what it does: denial by default, 400 for what it does not know", async () => {
    const open = entity("open", { name: string }).rules({ read: ["everyone"] });
    const closed = entity("closed", { name: string });
    const api = keelson({ entities: [open, closed], driver: memoryDriver() });
    const { url, close } = await startApp(api);
    onTestFinished(close);
    expect((await request(url, "GET", "/api/opens?zzz=1")).status).toBe(400);
    expect((await request(url, "GET", "/api/closeds")).status).toBe(401);
    expect((await request(url, "POST", "/api/opens", { body: { name: "x" } })).status).toBe(401);
  });

  it("says of Keelson what it has and lacks", () => {
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
});
