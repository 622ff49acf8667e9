import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";

const FOLDER = "examples/plugins";
const examples = readdirSync(join(repositoryRoot, FOLDER)).sort();
const page = readFileSync(join(repositoryRoot, "docs/guides/example-plugins.md"), "utf8");

/** Lines that are neither blank nor part of a comment. */
function linesOfCode(text: string): number {
  const code = text.replace(/^\s*\/\*[\s\S]*?\*\//gm, "");
  return code.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;
}

describe("the example plugins", () => {
  it.each(examples)("%s imports only public entry points of Keelson, and other packages", (name) => {
    const imports = sourceFiles(`${FOLDER}/${name}/src`).flatMap(({ text }) =>
      [...text.matchAll(/from "([^"]+)"/g)].map(([, from]) => from as string),
    );
    const inside = imports.filter((from) =>
      from.startsWith(".") ? from.includes("..") : /^keelson\/(?!plugin$)/.test(from),
    );
    expect(inside).toEqual([]);
  });

  it.each(examples)("%s has a package, a readme, tests, and its line count in the guide", (name) => {
    const files = sourceFiles(`${FOLDER}/${name}`).map(({ path }) => path.slice(`${FOLDER}/${name}/`.length));
    for (const expected of ["package.json", "README.md", `test/${name}.test.ts`]) expect(files).toContain(expected);
    const lines = sourceFiles(`${FOLDER}/${name}/src`).reduce((sum, { text }) => sum + linesOfCode(text), 0);
    expect(page).toContain(`| \`${name}\` | ${lines} |`);
  });
});
