import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// The package's own tests, unchanged.
import "../../examples/plugin-package/test/slugs.test.ts";
import "../../examples/plugin-package/test/start-up.test.ts";
import { slug, slugs } from "../../examples/plugin-package/src/index.ts";
import { entity, importAction, keelson, manyToMany, string } from "../../src/index.ts";
import { request, startApp } from "../support/http.ts";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

const folder = "examples/plugin-package";

describe.each(SQL_DATABASES)("keelson-plugin-slugs on %s", (_, open) => {
  const tag = entity("tag", { name: string, notes: manyToMany(() => note) }).rules({
    read: ["everyone"],
    update: ["everyone"],
  });
  const note = entity("note", {
    title: string,
    slug: slug({ follow: true }),
    tags: manyToMany(() => tag),
  })
    .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] })
    .actions({ import: importAction() });
  let database: SqlDatabase;
  let url = "";
  let close: () => Promise<void>;
  const post = (body: unknown, path = "/api/notes") => request(url, "POST", path, { body });
  const slugsIn = async () => (await database.rows("SELECT slug FROM note ORDER BY slug")).map((row) => row.slug);

  beforeAll(async () => {
    database = await open();
    const api = keelson({ entities: [tag, note], driver: database.driver, plugins: [slugs()] });
    ({ url, close } = await startApp(api));
    await api.asSystem().tag.create({ id: "t1", name: "red" });
  });
  afterAll(async () => {
    await close();
    await database.drop();
  });

  it("gives parallel requests unique slugs, also in transactions and imports", async () => {
    const alone = Array.from({ length: 8 }, () => post({ title: "Rush" }));
    const withLinks = Array.from({ length: 8 }, () => post({ title: "Rush", tagsIds: ["t1"] }));
    const rows = Array.from({ length: 5 }, () => ({ title: "Rush" }));
    const imports = Array.from({ length: 2 }, () => post(rows, "/api/notes/import"));
    const answers = await Promise.all([...alone, ...withLinks, ...imports]);
    expect(answers.map(({ status }) => status)).toEqual([...Array(16).fill(201), 200, 200]);
    const stored = await slugsIn();
    expect([stored.length, new Set(stored).size]).toEqual([26, 26]);
    expect(stored.every((one) => /^rush(-\w+)?$/.test(String(one)))).toBe(true);
  });

  it("gives records that are renamed in parallel unique slugs", async () => {
    const made = await Promise.all(["a", "b", "c", "d"].map((title) => post({ title })));
    const rename = ({ json }: (typeof made)[0]) =>
      request(url, "PATCH", `/api/notes/${json.id}`, { body: { title: "Same" } });
    const renamed = await Promise.all(made.map(rename));
    expect(renamed.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(renamed.map(({ json }) => json.slug)).size).toBe(4);
  });
});

describe("the package keelson-plugin-slugs", () => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, folder, "package.json"), "utf8"));

  it("imports keelson by its public subpaths, and only declared dependencies", () => {
    const files = sourceFiles(folder, (path) => path.endsWith(".ts"));
    const imports = files.flatMap(({ text }) => [...text.matchAll(/from "([^".][^"]*)"/g)].map((match) => match[1]));
    expect([...new Set(imports)].sort()).toEqual(
      ["keelson", "keelson/plugin", "keelson/testing", "node:crypto", "vitest", "vitest/config"].sort(),
    );
  });

  it("accepts this version of keelson", () => {
    const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
    expect(manifest.devDependencies.keelson).toBe(version);
    expect(manifest.peerDependencies.keelson).toBe(">=0.1.0 <0.2.0");
  });
});
