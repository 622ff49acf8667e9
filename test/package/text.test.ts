import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";

const TEXT = /\.(ts|cjs|json|md|ya?ml|prisma|sql|html)$|(^|\/)(\.[\w-]+|LICENSE|run)$/;
const files = sourceFiles("", (path) => TEXT.test(path));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const homes = ["home", "Users", "root"].map((name) => `/${name}/`);
const parent = dirname(repositoryRoot);
const here = parent === dirname(parent) ? repositoryRoot : parent;
/** A path is absolute unless part of another path or a URL comes before its slash. */
const machinePath = new RegExp(
  `(?<![\\w.~*-])(${[`${here}/`, ...homes].map(escaped).join("|")})|\\b[A-Z]:\\\\+Users\\b`,
);

function linesMatching(pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

describe("the project's text", () => {
  it("is read in full", () => {
    const read = new Set(files.map(({ path }) => path));
    const wanted = ["package.json", ".gitignore", "LICENSE", ".ci/run", "CONTRIBUTING.md", "src/index.ts", "README.md"];
    expect(wanted.filter((path) => !read.has(path))).toEqual([]);
  });

  it("contains no absolute path of a machine", () => {
    expect(machinePath.test(`see ${repositoryRoot}/src`)).toBe(true);
    expect(linesMatching(machinePath)).toEqual([]);
  });

  it("leaves no note about unfinished work in a comment", () => {
    expect(linesMatching(new RegExp(`\\b(${["TO", "FIX"].join("DO|")}ME|XX${"X"})\\b`))).toEqual([]);
  });
});
