import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The violations that axe finds in the current page, one line per element. Injected despite the page's CSP. */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  if (await page.evaluate(() => !("axe" in window))) await page.evaluate(source);
  return (await page.evaluate(`
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ": " + html.slice(0, 200) + " " + failureSummary)))
  `)) as readonly string[];
}
