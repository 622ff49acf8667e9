import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";

function scriptsOf(folder: string): string[] {
  const text = readFileSync(join(repositoryRoot, folder, "package.json"), "utf8");
  return Object.keys((JSON.parse(text) as { scripts: Record<string, string> }).scripts);
}

const ROOT = scriptsOf(".");
const BENCH = scriptsOf("bench");
/** Scripts of the projects that pages tell readers to create. */
const OF_PROJECTS = ["build", "dev", "start", "test"];

// Decision records keep the commands of their time.
const pages = [
  ...sourceFiles("docs", (path) => path.endsWith(".md") && !/docs\/(adr|reference\/api)\//.test(path)),
  ...sourceFiles(".", (path) => /^[A-Z]+\.md$/.test(path)).filter(({ path }) => path !== "CHANGELOG.md"),
  ...sourceFiles("bench", (path) => /\.(md|ts)$/.test(path) && !path.includes("/peers/")),
  ...["src", "examples", "scripts"].flatMap((folder) => sourceFiles(folder, (path) => /\.(md|tsx?)$/.test(path))),
];
const COMMAND = /npm run ([\w-]+(?::[\w-]+)*)((?:\s+(?:\*\s+)?--prefix\s+bench)?)/g;
const found = pages.flatMap(({ path, text }) =>
  [...text.matchAll(COMMAND)].map(([, name = "", prefix = ""]) => ({ path, name, isOfBench: prefix !== "" })),
);

describe("a command in a page or a comment", () => {
  it("is a script of the repository", () => {
    const names = found.filter(({ isOfBench }) => !isOfBench);
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter(({ name }) => ![...ROOT, ...OF_PROJECTS].includes(name))).toEqual([]);
  });

  it("is a script of bench/ after --prefix bench", () => {
    const names = found.filter(({ isOfBench }) => isOfBench);
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter(({ name }) => !BENCH.includes(name))).toEqual([]);
  });
});
