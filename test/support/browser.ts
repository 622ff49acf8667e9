import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { launchBrowser } from "./launch-browser.ts";

/** One browser for a test file. */
export interface TestBrowser {
  /**
   * A fresh page without cookies. Faults of the page fail the test: a request to another host, an error in the console
   * (including refusals by its Content-Security-Policy), an uncaught exception, a missing file.
   */
  newPage(): Promise<Page>;
  /** Returns and clears the faults so far, for a test that expects them. */
  takeProblems(): string[];
}

/** Starts a browser before the tests of a file, and closes each test's pages after it. */
export function testBrowser(): TestBrowser {
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const problems: string[] = [];
  const takeProblems = (): string[] => problems.splice(0);
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(takeProblems()).toEqual([]);
  });
  afterAll(() => browser.close());
  return {
    takeProblems,
    async newPage() {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
      contexts.push(context);
      return await watchedPage(context, (problem) => problems.push(problem));
    },
  };
}

/** Requests of each page: their total, and those that are pending. */
const requests = new WeakMap<Page, { sent: number; readonly open: Set<Request> }>();

/** Waits until a page is idle: no request is pending, and two frames later no new one has started. */
export async function untilQuiet(page: Page): Promise<void> {
  const own = requests.get(page);
  if (own === undefined) throw new Error("nobody counts the requests of this page");
  let before: number;
  do {
    before = own.sent;
    await page.evaluate(
      () =>
        new Promise<void>((done) => {
          requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
        }),
    );
  } while (own.open.size > 0 || own.sent > before);
}

/** A page that reports its faults and cannot reach other hosts. */
export async function watchedPage(context: BrowserContext, report: (problem: string) => void): Promise<Page> {
  await context.route(
    (url) => url.hostname !== "127.0.0.1",
    async (route) => {
      report(`request to ${route.request().url()}`);
      await route.abort();
    },
  );
  const page = await context.newPage();
  const own = { sent: 0, open: new Set<Request>() };
  requests.set(page, own);
  page.on("request", (request) => {
    own.sent++;
    own.open.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"] as const)
    page.on(end as "requestfinished", (request) => void own.open.delete(request));
  page.on("pageerror", (error) => report(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    // Failed API requests appear in the console too; the test itself checks whether they are expected.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) report(message.text());
  });
  page.on("response", (response) => {
    const isCall = ["fetch", "xhr"].includes(response.request().resourceType());
    if (!isCall && response.status() >= 400) report(`${response.status()} for ${response.url()}`);
  });
  return page;
}
