import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import { build } from "@kubb/core";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";
import { type OpenApiDocument, openapiDocument } from "keelson/openapi";
import createFetchClient from "openapi-fetch";
import openapiTypescript, { astToString } from "openapi-typescript";
import { generate } from "orval";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFilledApp } from "../plugins/openapi/documented-app.ts";
import { compileProblems } from "../support/compile-problems.ts";
import { startApp } from "../support/http.ts";
import { repositoryRoot } from "../support/source-files.ts";

let api: Awaited<ReturnType<typeof createFilledApp>>;
let document: OpenApiDocument;
let server: Awaited<ReturnType<typeof startApp>>;
let folder: string;
let input: string;

beforeAll(async () => {
  api = await createFilledApp();
  document = await openapiDocument(api, { as: "public" });
  server = await startApp(api);
  mkdirSync(join(repositoryRoot, ".cache"), { recursive: true });
  folder = mkdtempSync(join(repositoryRoot, ".cache", "generators-"));
  input = write("openapi.json", JSON.stringify(document));
});
afterAll(async () => {
  await server?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Uses of generated types: `title` is in every record, `note` is not. */
function uses(imports: string, post: string, user: string): string {
  return `${imports}
export const title = (post: ${post}): string => post.title;
export const rating = (post: ${post}): number | null => post.rating;
export const status = (post: ${post}): "draft" | "live" => post.status;
// @ts-expect-error the name of an author who was not included is missing
export const author = (post: ${post}): string => post.author.name;
// @ts-expect-error another field is not called so
export const wrong = (post: ${post}) => post.headline;
export const name = (user: ${user}): string => user.name;
`;
}

describe("openapi-typescript and openapi-fetch", () => {
  it("generate a read's fields without undefined, and call the API", async () => {
    write("schema.ts", astToString(await openapiTypescript(JSON.stringify(document), { defaultNonNullable: false })));
    const use = write(
      "fetch-use.ts",
      `${uses(
        'import createClient from "openapi-fetch";\nimport type { components, paths } from "./schema.ts";',
        'components["schemas"]["Post"]',
        'components["schemas"]["User"]',
      )}
const client = createClient<paths>({ baseUrl: "http://localhost" });
export async function titles(): Promise<string[]> {
  const { data } = await client.GET("/api/posts", { params: { query: { title_like: "post", _sort: ["-title"] } } });
  return data === undefined ? [] : data.map((post) => post.title);
}
`,
    );
    expect(compileProblems([use, join(folder, "schema.ts")])).toEqual([]);
    const client = createFetchClient<Record<string, Record<"get", object>>>({ baseUrl: server.url });
    const query = { title_like: "post", _sort: ["-title"], _where: JSON.stringify({ views: { gte: 0 } }), _limit: 2 };
    const { data, response } = await client.GET("/api/posts" as never, { params: { query } } as never);
    expect(response.status).toBe(200);
    expect(data).toHaveLength(2);
  });
});

describe("@hey-api/openapi-ts", () => {
  it("generates a read's fields without undefined, and calls the API", async () => {
    const path = join(folder, "hey");
    await createClient({
      input,
      output: { path, module: { extension: ".ts" } },
      logs: { level: "silent" },
      plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
    });
    const imports = 'import type { Post, ReadPostResponses, User } from "./hey/types.gen.ts";';
    const use = write("hey-use.ts", uses(imports, "ReadPostResponses[200] & Post", "User"));
    expect(compileProblems([use, join(path, "types.gen.ts")])).toEqual([]);
    const { listPosts } = await import(pathToFileURL(join(path, "sdk.gen.ts")).href);
    const query = { title_like: "post", _sort: ["-rating", "title"], include: ["author", "tags"] };
    const { data } = await listPosts({ baseUrl: server.url, query });
    expect(data[0]).toMatchObject({ title: expect.any(String), author: { name: expect.any(String) } });
  });
});

describe("orval", () => {
  it("generates a read's fields without undefined, and calls the API", async () => {
    const target = join(folder, "orval.ts");
    await generate(
      { input: { target: input }, output: { target, client: "fetch", mode: "single", baseUrl: server.url } },
      folder,
      { projectName: "posts" },
    );
    const use = write("orval-use.ts", uses('import type { Post, User } from "./orval.ts";', "Post", "User"));
    expect(compileProblems([use, target])).toEqual([]);
    const { listPosts } = await import(pathToFileURL(target).href);
    const { status, data } = await listPosts({ title_like: "post", _sort: ["-title"], status: ["draft", "live"] });
    expect([status, typeof data[0].title]).toEqual([200, "string"]);
  });
});

describe("kubb", () => {
  it("generates a read's fields without undefined", async () => {
    await build({
      config: {
        root: repositoryRoot,
        input: { path: input },
        output: { path: join(folder, "kubb"), extension: { ".ts": ".ts" } },
        plugins: [pluginOas({ generators: [] }), pluginTs({ output: { path: "types" } })],
      },
    });
    const imports =
      'import type { Post } from "./kubb/types/Post.ts";\nimport type { User } from "./kubb/types/User.ts";';
    const use = write("kubb-use.ts", uses(imports, "Post", "User"));
    expect(compileProblems([use, join(folder, "kubb/types/ReadPost.ts")])).toEqual([]);
  });
});
