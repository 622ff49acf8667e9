import { memoryDriver, noopLogger } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOrders, userOf } from "../../../examples/orders/api.ts";
import { testBrowser } from "../../support/browser.ts";
import { type RunningApp, startApp } from "../../support/http.ts";

const browser = testBrowser();
const api = createOrders({
  driver: memoryDriver(),
  logger: noopLogger,
  getUser({ headers }) {
    const id = headers.get("authorization")?.replace("Bearer ", "");
    return id === undefined ? null : userOf(id);
  },
});
let app: RunningApp;

beforeAll(async () => {
  await api.ready;
  await api.asSystem().person.create({ id: "ann", name: "Ann" });
  await api.asSystem().person.create({ id: "bob", name: "Bob" });
  await api.asSystem().product.create({ id: "tea", name: "Tea", price: 450, stock: 3 });
  app = await startApp(api);
});
afterAll(() => app.close());

async function open(place: string, token: string) {
  const page = await browser.newPage();
  await page.addInitScript((kept) => sessionStorage.setItem("studio.token", kept), token);
  await page.goto(`${app.url.replace("localhost", "127.0.0.1")}/studio${place}`);
  return page;
}

async function place(card: string) {
  const page = await open("#/orders", "ann");
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
  it("shows the step at which a workflow failed, and that everything was compensated", async () => {
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

  it("lists the runs for an administrator, who finds the failed one and its steps", async () => {
    const page = await open("#/!operations", "root");
    const runs = page.getByRole("region", { name: "Workflow runs" });
    await runs.getByLabel("Status").selectOption("compensated");
    await expect.poll(() => runs.locator("tbody tr").count()).toBe(1);
    await runs.getByRole("button", { name: /^order\.place/ }).click();
    const steps = page.getByRole("dialog", { name: "Run" }).getByRole("region", { name: "Steps" });
    await steps.getByRole("row", { name: /^reserve Done Done/ }).waitFor();
    await steps.getByRole("row", { name: /^charge Failed/ }).waitFor();
    await steps.getByRole("row", { name: /^\S+ – –/ }).waitFor();
  });

  it("shows an administrator the orders as the customer sees them", async () => {
    await api.asSystem().order.create({ productId: "tea", count: 1, total: 450, customerId: "bob" });
    const page = await open("#/!operations", "root");
    await page.getByLabel("Id of a user").fill("ann");
    await page.getByRole("button", { name: "View", exact: true }).click();
    await page.getByText("You see what ann sees, and change nothing.").waitFor();
    await page.getByRole("link", { name: "Orders" }).last().click();
    await expect.poll(() => page.locator("table.records tbody tr").count()).toBe(1);
    expect(await page.getByRole("button", { name: "Place" }).count()).toBe(0);
    await page.getByRole("button", { name: "Back to my own view" }).click();
    await page.getByRole("link", { name: "Orders" }).last().click();
    await expect.poll(() => page.locator("table.records tbody tr").count()).toBe(2);
  });

  it("shows what a workflow has changed, step by step", async () => {
    const page = await open("#/products/tea?tab=!history", "root");
    const changes = page.locator(".history tbody tr");
    await expect.poll(() => changes.count()).toBeGreaterThan(3);
    expect((await changes.allInnerTexts()).map((row) => row.split(/\s+/).join(" "))).toEqual(
      expect.arrayContaining(["Stock 3 1", "Stock 1 3"]),
    );
  });
});
