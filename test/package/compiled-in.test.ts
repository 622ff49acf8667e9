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

/** Their types are named by the package's declarations, so that whoever uses it needs them besides. */
const NAMED_IN_DECLARATIONS = ["zod"];

describe("libraries that are compiled into the package", () => {
  it.each(compiledIn)("%s is used, and of one exact version", (name) => {
    expect(source).toMatch(new RegExp(`(from |import |import\\()"${name}(/[\\w-]+)?"`));
    expect({ ...dependencies, ...devDependencies }[name]).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("are not installed with it, except for what its declarations name", () => {
    expect(compiledIn.filter((name) => dependencies?.[name] !== undefined)).toEqual(NAMED_IN_DECLARATIONS);
  });

  it("exclude those that deal with tokens, which vulnerability scanners must see", () => {
    expect(compiledIn).not.toContain("jose");
    expect(dependencies).toHaveProperty("jose");
  });
});

describe("the version of the schema engine that a remembered comparison is of", () => {
  it("is the one that the package asks for", () => {
    expect(peerDependencies?.["@prisma/schema-engine-wasm"]?.startsWith(`${ENGINE_VERSION}-`)).toBe(true);
  });
});
