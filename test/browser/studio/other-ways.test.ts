import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { belongsTo, entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { expressAdapter } from "keelson/express";
import { type StudioOptions, studio } from "keelson/studio";
import { describe, expect, it, onTestFinished } from "vitest";
import { axeProblems } from "../../support/axe.ts";
import { testBrowser } from "../../support/browser.ts";
import { createShop } from "../../support/studio/shop.ts";

const browser = testBrowser();

async function listen(server: Server): Promise<string> {
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The shop below a path of an Express app, with CORS for every origin. */
async function serveShop(mount = "/", options: StudioOptions = {}): Promise<string> {
  const shop = await createShop(options);
  onTestFinished(() => shop.close());
  const app = express().use((request, response, next) => {
    response.set("Access-Control-Allow-Origin", "*");
    response.set("Access-Control-Allow-Headers", "authorization, content-type, if-match");
    response.set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE");
    response.set("Access-Control-Expose-Headers", "ETag, X-Next-Cursor, X-Total-Count");
    if (request.method === "OPTIONS") response.sendStatus(204);
    else next();
  });
  return await listen(app.use(mount, expressAdapter(shop)).listen(0, "127.0.0.1"));
}

async function open(url: string, token = "ann") {
  const page = await browser.newPage();
  await page.addInitScript((kept) => sessionStorage.setItem("studio.token", kept), token);
  await page.goto(url);
  await page.locator("h1").waitFor();
  return page;
}

describe("the studio", () => {
  it("works with an API on another origin", async () => {
    const api = await serveShop();
    const front = keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, plugins: [studio({ api })] });
    onTestFinished(() => front.close());
    const url = await listen(express().use(expressAdapter(front)).listen(0, "127.0.0.1"));
    const page = await open(`${url}/studio#/products/p10/edit`);
    await page.getByLabel("Weight").fill("8");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Product 10" }).waitFor();
    await page.locator("dd", { hasText: /^8$/ }).waitFor();
  });

  it("works with a session in a cookie, and stores no token", async () => {
    const note = entity("note", { text: string }).rules({ read: ["authenticated"], create: ["authenticated"] });
    const api = keelson({
      entities: [note],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: [studio()],
      getUser: ({ headers }) => (headers.get("cookie")?.includes("session=ann") === true ? { id: "ann" } : null),
    });
    onTestFinished(() => api.close());
    const url = await listen(express().use(expressAdapter(api)).listen(0, "127.0.0.1"));
    const page = await browser.newPage();
    await page.context().addCookies([{ name: "session", value: "ann", url }]);
    await page.goto(`${url}/studio#/notes/!new`);
    await page.getByLabel("Text").fill("By a session");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "By a session" }).waitFor();
    await page.getByRole("button", { name: "View as a visitor" }).click();
    await page.getByText("You may not see anything here.").waitFor();
    expect(await page.evaluate(() => ({ ...sessionStorage }))).toEqual({});
  });

  it("works below a path that the app does not know", async () => {
    const url = await serveShop("/v1");
    const page = await open(`${url}/v1/studio#/products?name=Product 10`);
    await page.getByRole("link", { name: "Product 10" }).click();
    await page.getByRole("heading", { name: "Product 10" }).waitFor();
  });

  it("can be shown in another language", async () => {
    const words = { language: "de", save: "Speichern", edit: "Bearbeiten", "name.name": "Bezeichnung" };
    const page = await open(`${await serveShop("/", { words })}/studio#/products/p10/edit`);
    await page.getByRole("heading", { name: "Bearbeiten: Product 10" }).waitFor();
    await page.getByLabel("Bezeichnung").waitFor();
    await page.getByRole("button", { name: "Speichern" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
  });

  it("shows the records of another service, and reports when it does not respond", async () => {
    let isDown = false;
    const plan = entity("plan", { title: string })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const customer = entity("customer", {
      name: string,
      plan: belongsTo(() => plan)
        .remote("billing")
        .optional(),
    });
    const api = keelson({
      entities: [customer.rules({ read: ["everyone"] })],
      driver: memoryDriver({ customer: [{ id: "c1", name: "Cleo", planId: "gold" }] }),
      logger: noopLogger,
      services: {
        billing: () => ({
          async fetchByIds(_: string, ids: readonly string[]) {
            if (isDown) throw new Error("billing is down");
            return ids.map((id) => ({ id, title: "Gold plan" }));
          },
        }),
      },
      plugins: [studio()],
      remoteJoins: { cache: false, breaker: { failures: 1, resetAfter: 60_000 } },
      getUser: ({ headers }) => (headers.get("authorization") === null ? null : { id: "root", role: "admin" }),
    });
    onTestFinished(() => api.close());
    const url = await listen(express().use(expressAdapter(api)).listen(0, "127.0.0.1"));
    const page = await browser.newPage();
    await page.addInitScript(() => sessionStorage.setItem("studio.token", "root"));
    await page.goto(`${url}/studio#/customers/c1`);
    await page.getByText("Gold plan").waitFor();
    isDown = true;
    await page.reload();
    await page.getByText("Not available: error").waitFor();
    await page.getByRole("link", { name: "Operations" }).click();
    const services = page.getByRole("region", { name: "Remote services" });
    await services.getByText("left alone for a while").waitFor();
    expect(await axeProblems(page)).toEqual([]);
  });

  it("asks for a login in production, and for another one if that is not sufficient", async () => {
    const shop = await createShop({ rules: ["admin"] }, { production: true });
    onTestFinished(() => shop.close());
    const url = await listen(express().use(expressAdapter(shop)).listen(0, "127.0.0.1"));
    const page = await browser.newPage();
    await page.goto(`${url}/studio`);
    const paste = async (token: string): Promise<void> => {
      await page.getByLabel("Access token").fill(token);
      await page.getByRole("button", { name: "Apply" }).click();
    };
    await page.getByText("Authentication required").waitFor();
    await paste("ann");
    await page.getByText("Permission denied").waitFor();
    await paste("root");
    await page.getByRole("heading", { name: "Shop" }).waitFor();
  });

  it("has a searchable menu in an app of 300 entities, and counts nothing", async () => {
    const many = Array.from({ length: 300 }, (_, index) =>
      entity(`thing${index}`, { name: string }).rules({ read: ["everyone"] }),
    );
    const api = keelson({ entities: many, driver: memoryDriver(), logger: noopLogger, plugins: [studio()] });
    onTestFinished(() => api.close());
    const url = await listen(express().use(expressAdapter(api)).listen(0, "127.0.0.1"));
    const page = await browser.newPage();
    const calls: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "fetch") calls.push(new URL(request.url()).pathname);
    });
    await page.goto(`${url}/studio`);
    await page.getByLabel("Find in the menu").fill("thing277");
    await page.getByRole("navigation").getByRole("link", { name: "Thing277s" }).click();
    await page.getByText("Nothing here yet.").waitFor();
    expect(calls).toEqual(["/studio/app.json", "/api/thing277s"]);
  });
});
