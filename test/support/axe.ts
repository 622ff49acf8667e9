import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe has against a page as it is now: one line for each element. It is put into the page past its policy. */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  if (await page.evaluate(() => !("axe" in window))) await page.evaluate(source);
  return (await page.evaluate(`
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ": " + html.slice(0, 200) + " " + failureSummary)))
  `)) as readonly string[];
}
