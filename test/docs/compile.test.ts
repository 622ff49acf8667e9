import { afterAll, expect, it } from "vitest";
import { compileProblems } from "../support/compile-problems.ts";
import { openPage } from "../support/page.ts";
import { sourceFiles } from "../support/source-files.ts";

const names = sourceFiles("docs", (path) => path.endsWith(".md")).map(({ path }) => path.slice("docs/".length, -3));
// The same paths in each run, so that the compiler checks a page again only if it has changed.
const pages = ["../README", ...names].map((name) => ({ name, ...openPage(name, "compiled") }));
afterAll(() => {
  for (const page of pages) page.remove();
});

// One program for all of them: separate programs would take half a minute each.
it("every block of every page and every file of the repository compile unchanged", { timeout: 600_000 }, () => {
  const files = pages.flatMap((page) => page.files);
  expect(files.length).toBeGreaterThan(50);
  expect(compileProblems(files, { withRepository: true })).toEqual([]);
});

it("every program of a page is compiled, except replaced apps and foreign settings", () => {
  const others = pages.filter(({ text }) => /^```(js|javascript|typescript|tsx? .*)$/m.test(text));
  expect(others.map(({ name }) => name)).toEqual(["guides/migrate-from-express-prisma", "guides/production"]);
});
