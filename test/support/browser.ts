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

/**
 * Starts a browser before the tests of a file, and closes each test's pages after it. Contexts are kept for the next test,
 * because their cache has the compiled scripts.
 */
export function testBrowser(): TestBrowser {
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  let used = 0;
  const problems: string[] = [];
  const takeProblems = (): string[] => problems.splice(0);
  beforeAll(async () => {
    browser = await launchBrowser(ONLY_THIS_MACHINE);
  });
  afterEach(async () => {
    for (const context of contexts.slice(0, used)) await forgetUser(context);
    used = 0;
    expect(takeProblems()).toEqual([]);
  });
  afterAll(() => browser.close());
  return {
    takeProblems,
    async newPage() {
      const context = contexts[used] ?? (await watchedContext(browser, (problem) => problems.push(problem)));
      contexts[used++] = context;
      return await context.newPage();
    },
  };
}

/** Closes the pages, and clears what they have stored. */
async function forgetUser(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    if (page.url().startsWith("http")) await page.evaluate(() => localStorage.clear());
    await page.close();
  }
  await context.clearCookies();
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

/** Not by Playwright's routes: while there is one, the browser caches nothing. */
const ONLY_THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";

/** A context whose pages report their faults. */
async function watchedContext(browser: Browser, report: (problem: string) => void): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.on("page", (page) => watch(page, report));
  return context;
}

function watch(page: Page, report: (problem: string) => void): void {
  const own = { sent: 0, open: new Set<Request>() };
  requests.set(page, own);
  page.on("request", (request) => {
    own.sent++;
    own.open.add(request);
    const { protocol, hostname } = new URL(request.url());
    if (/^(http|ws)/.test(protocol) && hostname !== "127.0.0.1") report(`request to ${request.url()}`);
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
}
