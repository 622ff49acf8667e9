import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openapiDocument } from "keelson/openapi";
import openapiTypescript, { astToString } from "openapi-typescript";
import { expect, it, onTestFinished } from "vitest";
import { compileProblems } from "../../support/compile-problems.ts";
import { repositoryRoot } from "../../support/source-files.ts";
import { createDocumentedApp } from "./documented-app.ts";

const USE = `import type { components, operations, paths } from "./api.ts";

type Post = components["schemas"]["Post"];
export const title = (post: Post): string => post.title;
export const rating = (post: Post): number | null => post.rating;
export const author = (post: Post): string | undefined => post.author?.name;
export const created: components["schemas"]["PostCreate"] = { title: "Dune", status: "live", tagsIds: ["t1"] };
export const where: components["schemas"]["PostWhere"] = {
  or: [{ rating: { gt: 3 } }, { author: { name: { like: "an" } } }, { tags: { some: { label: ["new"] } } }],
};
export const query: operations["listPosts"]["parameters"]["query"] = {
  title_like: "du",
  rating_gte: 1,
  status: ["draft"],
  _where: JSON.stringify(where),
  _sort: ["-title"],
  include: ["author"],
};
export type Renamed = paths["/api/posts/{id}/rename"]["post"]["responses"][200]["content"]["application/json"];
export const renamed: Renamed = { title: "Dune", at: null };
// @ts-expect-error no status is called so
export const wrong: components["schemas"]["PostCreate"] = { title: "Dune", status: "gone" };
export type Read = operations["readPost"]["responses"][200]["content"]["application/json"];
export const shownTitle = (post: Read): string => post.title;
// @ts-expect-error no field is called so
export const nowhere: components["schemas"]["PostWhere"] = { headline: "x" };
// @ts-expect-error no filter is called so
export const none: operations["listPosts"]["parameters"]["query"] = { password_like: "x" };
`;

it("openapi-typescript generates valid types that match the API", async () => {
  const api = createDocumentedApp();
  onTestFinished(() => api.close());
  const document = await openapiDocument(api);
  // As with --default-non-nullable=false: a field with a default is optional in input.
  const text = astToString(await openapiTypescript(JSON.stringify(document), { defaultNonNullable: false }));
  mkdirSync(join(repositoryRoot, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(repositoryRoot, ".cache", "openapi-types-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = { "api.ts": text, "use.ts": USE };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  expect(compileProblems(Object.keys(files).map((name) => join(folder, name)))).toEqual([]);
}, 120_000);
