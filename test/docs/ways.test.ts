import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";
import { PAGE, walk, withWays } from "../support/ways.ts";

it("docs/architecture.md shows the real traces of requests (npm run docs:ways)", async () => {
  const page = readFileSync(join(repositoryRoot, PAGE), "utf8");
  const ways = await walk();
  expect(page.split("```text way\n").length - 1).toBe(Object.keys(ways).length);
  expect(page).toBe(withWays(page, ways));
});
