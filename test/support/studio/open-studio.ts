import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { type TestBrowser, testBrowser, untilQuiet } from "../browser.ts";
import { type RunningApp, startApp } from "../http.ts";
import { createShop, people, type Shop } from "./shop.ts";

/** A request that the page sent. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  /** Whether it asks for a file of the page rather than for data. */
  readonly isAsset: boolean;
}

export interface OpenStudio {
  readonly browser: TestBrowser;
  readonly shop: Shop;
  readonly url: string;
  /** Requests of all pages so far. */
  readonly sent: SentRequest[];
  /** The page at a place, for the caller with this token; a visitor without one. */
  open(place: string, token?: string): Promise<Page>;
}

/** A shop on a port of its own, and a browser, for the tests of a file. */
export function openStudio(): OpenStudio {
  const browser = testBrowser();
  const sent: SentRequest[] = [];
  let shop: Shop;
  let app: RunningApp;
  beforeAll(async () => {
    shop = await createShop({ viewAs: (id) => people.get(id) ?? null });
    app = await startApp(shop);
  });
  afterAll(() => app.close());
  return {
    browser,
    sent,
    get shop() {
      return shop;
    },
    get url() {
      return app.url.replace("localhost", "127.0.0.1");
    },
    async open(place, token) {
      const page = await browser.newPage();
      if (token !== undefined) await page.addInitScript((kept) => sessionStorage.setItem("studio.token", kept), token);
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        const authorization = request.headers().authorization;
        const isAsset = !["fetch", "xhr"].includes(request.resourceType());
        sent.push({ method: request.method(), path: pathname, authorization, isAsset });
      });
      await page.goto(`${app.url.replace("localhost", "127.0.0.1")}/studio${place}`);
      await page.locator("h1").first().waitFor();
      return page;
    },
  };
}

/** Goes to another place within the page, which then asks for nothing more and says of nothing that it is loading. */
export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate((hash) => location.assign(hash), place);
  const loading = page.locator(".loading, [aria-busy=true]");
  do {
    await untilQuiet(page);
    await loading.first().waitFor({ state: "detached" });
  } while ((await loading.count()) > 0);
  await untilQuiet(page);
}

/** The first cells of a list, which name its records. */
export const titles = (page: Page): Promise<string[]> => page.locator("table.records .row-link").allTextContents();

/** Waits for a message that something was done. */
export async function told(page: Page, message: string | RegExp): Promise<void> {
  await page.locator(".toast.shown", { hasText: message }).waitFor();
}
