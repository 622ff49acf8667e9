import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Keelson, keelson, memoryDriver, type Plugin } from "keelson";
import { type OpenApiDocument, openapiDocument } from "keelson/openapi";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openPage, type Page } from "../support/page.ts";
import { membersOf } from "./concepts/members-of.ts";

let guide: Page;

beforeAll(() => {
  guide = openPage("guides/openapi");
});
afterAll(() => guide.remove());

describe("docs/guides/openapi.md", () => {
  it("has an API that matches its description on the page", async () => {
    const { api } = await guide.load<{ api: Keelson }>("api.ts");
    onTestFinished(() => api.close());
    const { info, paths, components } = await openapiDocument(api);
    expect(info).toEqual({ title: "Blog", version: "2.0.0" });
    const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    for (const id of /stable ids: ([\s\S]*?)\n- /.exec(guide.text)?.[1]?.match(/(?<=`)\w+Posts?(?=`)/g) ?? [])
      if (id !== "deletePost") expect(ids).toContain(id); // no caller may delete one there
    expect(paths["/api/posts/{id}/rename"]?.post).toMatchObject({
      summary: "Give it another title",
      tags: ["Editing"],
    });
    expect(paths["/weather"]?.get?.responses).toHaveProperty("200.content");
    for (const name of ["Post", "PostCreate", "PostUpdate", "PostWhere"])
      expect(components.schemas).toHaveProperty(name);
    const file = join(dirname(guide.file("api.ts")), "openapi.json");
    const { writeDocument } = await guide.load<{ writeDocument(file: string): Promise<void> }>("write-document.ts");
    await writeDocument(file);
    const written = JSON.parse(readFileSync(file, "utf8")) as OpenApiDocument;
    expect(Object.keys(written.paths)).toEqual([
      "/api/batch",
      "/api/posts",
      "/api/posts/aggregate",
      "/api/posts/{id}",
      "/openapi.json",
      "/health/live",
      "/health/ready",
      "/weather",
    ]);
    rmSync(file);
  });

  it("has a plugin that adds its response to all routes", async () => {
    const { limit } = await guide.load<{ limit: Plugin }>("limit.ts");
    const api = keelson({ entities: [], driver: memoryDriver(), plugins: [limit] });
    onTestFinished(() => api.close());
    await api.ready;
    const { paths } = await openapiDocument(api);
    expect(paths["/health/ready"]?.get?.responses).toHaveProperty("429");
  });

  it("names every option", async () => {
    const declared = membersOf("src/plugins/openapi/openapi-document.ts", "OpenApiOptions");
    const named = guide.text.match(/(?<=^\| `)\w+(?=` \|)/gm);
    expect(named).toEqual(declared);
  });
});
