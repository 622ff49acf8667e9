import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ENGINE_VERSION } from "../../src/drivers/prisma/engine/schema-engine.ts";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";

const read = (path: string) => JSON.parse(readFileSync(join(repositoryRoot, path), "utf8"));
const compiledIn = read("scripts/compiled-in.json") as readonly string[];
const { dependencies, devDependencies, peerDependencies } = read("package.json") as Readonly<
  Record<string, Readonly<Record<string, string>>>
>;
const source = sourceFiles("src", (path) => path.endsWith(".ts"))
  .map(({ text }) => text)
  .join("\n");

/** The package's declarations refer to their types, so that TypeScript users need them too. */
const NAMED_IN_DECLARATIONS = ["zod"];

describe("bundled libraries", () => {
  it.each(compiledIn)("%s is used, with one exact version", (name) => {
    expect(source).toMatch(new RegExp(`(from |import |import\\()"${name}(/[\\w-]+)?"`));
    expect({ ...dependencies, ...devDependencies }[name]).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("are not installed with it, except those that its declarations refer to", () => {
    expect(compiledIn.filter((name) => dependencies?.[name] !== undefined)).toEqual(NAMED_IN_DECLARATIONS);
  });

  it("exclude those that handle tokens, which vulnerability scanners must see", () => {
    expect(compiledIn).not.toContain("jose");
    expect(dependencies).toHaveProperty("jose");
  });
});

describe("the schema engine's version in a stored comparison", () => {
  it("is the one that the package requires", () => {
    expect(peerDependencies?.["@prisma/schema-engine-wasm"]?.startsWith(`${ENGINE_VERSION}-`)).toBe(true);
  });
});
