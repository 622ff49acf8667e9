import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { foldersIn, repositoryRoot, type SourceFile, sourceFiles } from "../support/source-files.ts";

const ROOTS = ["src/index.ts", "src/keelson.ts", "src/enhanced-driver.ts"];
const sources = sourceFiles("src", (path) => path.endsWith(".ts"));

/** Repository paths that a file imports in any way: values, types, re-exports, `import()`. */
function importsOf({ path, text }: SourceFile): string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith("."))
    .map((name) => posix.join(posix.dirname(path), name));
}

function importersOf(folder: string): string[] {
  return sources
    .filter((file) => !file.path.startsWith(`${folder}/`))
    .filter((file) => importsOf(file).some((target) => target === folder || target.startsWith(`${folder}/`)))
    .map(({ path }) => path);
}

describe("plugin folders", () => {
  it("are found in imports of every form", () => {
    const text = [
      'import "./a.ts";',
      'import { b } from "./b.ts";',
      'import type { C } from "../c.ts";',
      'export * from "./d/index.ts";',
      'const e = await import("./e.ts");',
      'type F = import("./f.ts").F;',
      '// import "./comment.ts"',
      "const text = \"import './text.ts'\";",
    ];
    expect(importsOf({ path: "src/x/file.ts", text: text.join("\n") })).toEqual([
      "src/x/a.ts",
      "src/x/b.ts",
      "src/c.ts",
      "src/x/d/index.ts",
      "src/x/e.ts",
      "src/x/f.ts",
    ]);
  });

  it("break only the composition roots when deleted", () => {
    const broken = foldersIn("src/plugins").map((name) => [name, importersOf(`src/plugins/${name}`)] as const);
    expect(broken).not.toEqual([]);
    expect(broken.filter(([, importers]) => importers.some((path) => !ROOTS.includes(path)))).toEqual([]);
    // Plugins that no root imports have their own entry points.
    const entries = readFileSync(join(repositoryRoot, "tsup.config.ts"), "utf8");
    const unused = broken.filter(
      ([name, importers]) => importers.length === 0 && !entries.includes(`plugins/${name}/`),
    );
    expect(unused).toEqual([]);
  });

  it("have an index.ts that exports the folder's name", () => {
    const camelCase = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const doors = new Map(sources.map(({ path, text }) => [path, text]));
    const strangers = foldersIn("src/plugins").filter((name) => {
      const door = doors.get(`src/plugins/${name}/index.ts`) ?? "";
      return !new RegExp(`export (const|function) ${camelCase(name)}\\b|export \\{[^}]*\\b${camelCase(name)}\\b`).test(
        door,
      );
    });
    expect(strangers).toEqual([]);
  });

  it("each have a test on the fake kernel", () => {
    const tests = sourceFiles("test/plugins", (path) => path.endsWith(".test.ts"));
    const tested = (name: string): boolean =>
      tests.some(({ path, text }) => path.startsWith(`test/plugins/${name}/`) && text.includes("createFakeKernel()"));
    expect(foldersIn("src/plugins").filter((name) => !tested(name))).toEqual([]);
  });
});
