import { describe, expect, it } from "vitest";
import { goTo, openStudio, told } from "../../support/studio/open-studio.ts";

const studio = openStudio();

describe("operations in the studio", () => {
  it("shows who changed what in a record, to callers who may read the log", async () => {
    await studio.shop.as({ id: "ann", role: "clerk" }).product.update("p20", { name: "Other name", weight: 5 });
    const clerk = await studio.open("#/products/p20", "ann");
    await clerk.getByRole("heading", { name: "Other name" }).waitFor();
    expect(await clerk.getByRole("link", { name: "History" }).count()).toBe(0);
    // A link from an administrator: the record is shown without its history.
    await goTo(clerk, "#/products/p20?tab=!history");
    await clerk.getByText("Other name").last().waitFor();
    expect(await clerk.locator("dl.details").count()).toBe(1);
    const page = await studio.open("#/products/p20", "root");
    await page.getByRole("link", { name: "History" }).click();
    const last = page.locator(".history li").first();
    await last.getByText("ann").waitFor();
    expect(await last.locator("tbody tr").allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/Name\s+Product 20\s+Other name/)]),
    );
  });

  it("shows whether the app and its database are up", async () => {
    const page = await studio.open("#/!operations", "ann");
    await page.getByText("The app answers, and so does its database.").waitFor();
    await page.getByRole("link", { name: "Products" }).last().click();
    await page.getByRole("checkbox", { name: "Deleted only" }).waitFor();
    expect(await page.getByRole("checkbox", { name: "Deleted only" }).isChecked()).toBe(true);
  });

  it("compares the caller's rights with those of a visitor", async () => {
    const page = await studio.open("#/!rights", "root");
    await page.getByRole("columnheader", { name: "Rules" }).waitFor();
    const row = page.getByRole("row", { name: /^Products/ });
    expect((await row.getByRole("cell").allInnerTexts()).map((text) => text.trim())).toEqual([
      "yes",
      "yes",
      "yes",
      "yes",
      "yes",
      "no",
      "no",
      "no",
      ...["everyone", "authenticated", "authenticated", "admin"],
    ]);
  });

  it("shows what a visitor sees, and switches back", async () => {
    const page = await studio.open("#/products", "root");
    await page.getByRole("link", { name: "Create product" }).waitFor();
    await page.getByRole("button", { name: "View as a visitor" }).click();
    await page.getByText("You see what visitors see.").waitFor();
    await page.getByRole("link", { name: "Products", exact: true }).first().click();
    await page.locator("table.records").waitFor();
    expect(await page.getByRole("link", { name: "Create product" }).count()).toBe(0);
    const own = studio.sent.filter(({ isAsset }) => !isAsset).at(-1);
    expect(own?.authorization).toBeUndefined();
    await page.getByRole("button", { name: "Back to my own view" }).click();
    await page.getByText("root", { exact: true }).waitFor();
  });

  it("draws sums over time for a list's records", async () => {
    const page = await studio.open("#/products?weight_gte=10", "ann");
    await page.getByRole("link", { name: "Chart" }).click();
    await page.getByLabel("Show").selectOption("sum=weight");
    await page.getByLabel("Group by").selectOption("month(since)");
    const chart = page.getByRole("img", { name: "Sum: weight · Since: month" });
    await chart.waitFor();
    await page.getByText("Value", { exact: true }).click();
    const rows = await page.locator("figure tbody tr").allInnerTexts();
    const { data } = await studio.shop.as({ id: "ann" }).product.list({ where: { weight: { gte: 10 } }, limit: 1000 });
    const sum = data.reduce((total, { weight }) => total + (weight ?? 0), 0);
    expect(rows.reduce((total, row) => total + Number(row.split(/\s+/).at(-1)), 0)).toBe(sum);
    expect(rows.map((row) => row.slice(0, 7))).toEqual([
      "2026-01",
      "2026-02",
      "2026-03",
      "2026-04",
      "2026-05",
      "2026-06",
    ]);
  });

  it("has the charts that code defines on its first page", async () => {
    const page = await studio.open("#/", "ann");
    await page.getByRole("img", { name: "Products: Sum: price · Since: month" }).waitFor();
  });

  it("has a dark theme, and remembers it", async () => {
    const page = await studio.open("#/", "ann");
    await page.getByLabel("Theme").selectOption("dark");
    const colour = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = "rgb(246, 247, 249)";
    await expect.poll(colour).not.toBe(light);
    await page.reload();
    await page.locator("h1").waitFor();
    expect(await colour()).not.toBe(light);
    await page.getByLabel("Theme").selectOption("light");
    await expect.poll(colour).toBe(light);
  });

  it("can be used with the keyboard alone", async () => {
    const page = await studio.open("#/makers", "ann");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
    await page.getByRole("link", { name: "Lumen" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Lumen" }).waitFor();
    await page.getByRole("link", { name: "Edit" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Name").focus();
    await page.keyboard.type(" & Co");
    await page.keyboard.press("Enter");
    await told(page, "Saved");
    expect(await studio.shop.asSystem().maker.get("m1")).toMatchObject({ name: expect.stringContaining("& Co") });
  });
});
