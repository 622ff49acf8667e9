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
  /** Whether it requests a file of the page rather than data. */
  readonly isAsset: boolean;
}

export interface OpenStudio {
  readonly browser: TestBrowser;
  readonly shop: Shop;
  readonly url: string;
  /** Requests of all pages so far. */
  readonly sent: SentRequest[];
  /** Opens a page as the caller with this token; without one, as a visitor. */
  open(place: string, token?: string): Promise<Page>;
}

/** Starts a shop on a free port, and a browser, for the tests of a file. */
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

/** Navigates within the page, and waits until it is idle and shows no loading indicator. */
export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate((hash) => location.assign(hash), place);
  const loading = page.locator(".loading, [aria-busy=true]");
  do {
    await untilQuiet(page);
    await loading.first().waitFor({ state: "detached" });
  } while ((await loading.count()) > 0);
  await untilQuiet(page);
}

/** The first cells of a list, which show the records' names. */
export const titles = (page: Page): Promise<string[]> => page.locator("table.records .row-link").allTextContents();

/** Waits for a success message. */
export async function told(page: Page, message: string | RegExp): Promise<void> {
  await page.locator(".toast.shown", { hasText: message }).waitFor();
}
