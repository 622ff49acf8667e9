import { memoryDriver, noopLogger } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOrders } from "../../../examples/orders/api.ts";
import { testBrowser } from "../../support/browser.ts";
import { type RunningApp, startApp } from "../../support/http.ts";

const browser = testBrowser();
const api = createOrders({
  driver: memoryDriver(),
  logger: noopLogger,
  getUser: ({ headers }) => (headers.get("authorization") === "Bearer ann" ? { id: "ann" } : null),
});
let app: RunningApp;

beforeAll(async () => {
  await api.ready;
  await api.asSystem().person.create({ id: "ann", name: "Ann" });
  await api.asSystem().product.create({ id: "tea", name: "Tea", price: 450, stock: 3 });
  app = await startApp(api);
});
afterAll(() => app.close());

async function place(card: string) {
  const page = await browser.newPage();
  await page.addInitScript(() => sessionStorage.setItem("studio.token", "ann"));
  await page.goto(`${app.url.replace("localhost", "127.0.0.1")}/studio#/orders`);
  await page.getByRole("button", { name: "Place" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Product").fill("te");
  await dialog.getByRole("option", { name: "Tea" }).click();
  await dialog.getByLabel("Count").fill("2");
  await dialog.getByLabel("Card").fill(card);
  await dialog.getByRole("button", { name: "Run" }).click();
  return page;
}

describe("the orders in the studio", () => {
  it("says at which step a workflow failed, and that all of it was taken back", async () => {
    const page = await place("0000000000000000");
    const report = page.getByRole("region", { name: "Run" });
    await report.getByText("Compensated").waitFor();
    expect(await report.textContent()).toContain("charge");
    expect(await api.asSystem().product.get("tea")).toMatchObject({ stock: 3 });
  });

  it("shows the result of a workflow that has completed", async () => {
    const page = await place("4242424242424242");
    await page.getByRole("region", { name: "Run" }).getByText("Completed").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("table.records").getByText("paid").waitFor();
    expect(await api.asSystem().product.get("tea")).toMatchObject({ stock: 1 });
  });
});
