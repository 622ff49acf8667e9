import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openStudio, titles, told } from "../../support/studio/open-studio.ts";

const studio = openStudio();
const product = (id: string) => studio.shop.asSystem().product.get(id);

describe("actions in the studio", () => {
  it("runs an action with a form of its input, and shows its errors there", async () => {
    const page = await studio.open("#/products/p10", "ann");
    await page.getByRole("button", { name: "Rename" }).click();
    const dialog = page.getByRole("dialog", { name: "Rename" });
    await dialog.getByText("Gives it another name").waitFor();
    await dialog.getByLabel("Name").fill("x");
    await dialog.getByRole("button", { name: "Run" }).click();
    await dialog.getByText("must be at least 3 characters").waitFor();
    await dialog.getByLabel("Name").fill("Renamed");
    await dialog.getByRole("button", { name: "Run" }).click();
    await told(page, "Rename: done");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Renamed" }).first().waitFor();
    expect(await product("p10")).toMatchObject({ name: "Renamed" });
  });

  it("archives several records at once", async () => {
    const page = await studio.open("#/products?_limit=10&_sort=name", "ann");
    await page.getByLabel("Select Product 11").check();
    await page.getByLabel("Select Product 12").check();
    await page.getByText("2 selected").waitFor();
    await page.getByRole("toolbar").getByRole("button", { name: "Archive" }).click();
    await told(page, "Archive: done");
    expect([await product("p11"), await product("p12")]).toMatchObject([{ archived: true }, { archived: true }]);
  });

  it("sets a field of several records to one value, in one request", async () => {
    const page = await studio.open("#/products?_limit=10&_sort=name", "ann");
    await page.getByLabel("Select Product 13").check();
    await page.getByLabel("Select Product 14").check();
    await page.getByRole("button", { name: "Change a field" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Field").selectOption("state");
    await dialog.getByLabel("State").selectOption("gone");
    const before = studio.sent.filter(({ method }) => method === "POST").length;
    await dialog.getByRole("button", { name: "Apply" }).click();
    await told(page, "2 changed");
    expect(studio.sent.filter(({ method }) => method === "POST").length).toBe(before + 1);
    expect([await product("p13"), await product("p14")]).toMatchObject([{ state: "gone" }, { state: "gone" }]);
  });

  it("deletes several records in one request", async () => {
    for (const id of ["d1", "d2"]) await studio.shop.asSystem().product.create({ id, name: `Doomed ${id}` });
    const page = await studio.open("#/products?name_like=doomed", "root");
    await page.getByLabel("Select all on this page").check();
    await page.getByRole("toolbar").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog", { name: "Delete 2 records?" }).getByRole("button", { name: "Delete" }).click();
    await told(page, "Deleted");
    await page.getByText("No records match.").waitFor();
  });

  it("checks an import row by row before it stores anything", async () => {
    const page = await studio.open("#/products", "ann");
    await page.getByRole("link", { name: "Import" }).click();
    await page.getByLabel("Or paste the rows here").fill("name,weight\nImported lamp,3\nx,5\nAnother lamp,many\n");
    expect(await page.getByRole("button", { name: "Import" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("Checked: 1 would be created, 0 changed, 2 refused.").waitFor();
    const refused = page.getByRole("table", { name: "Refused rows" });
    expect(await refused.locator("tbody tr").allInnerTexts()).toEqual([
      expect.stringMatching(/2\s+name must be at least 3 characters/),
      expect.stringMatching(/3\s+weight/),
    ]);
    expect((await studio.shop.asSystem().product.list({ where: { name: { like: "imported" } } })).total).toBe(0);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText("1 created, 0 changed, 2 refused.").waitFor();
    const { data } = await studio.shop.asSystem().product.list({ where: { name: "Imported lamp" } });
    expect(data).toMatchObject([{ weight: 3 }]);
    await studio.shop.asSystem().product.delete(data[0]?.id as string);
  });

  it("exports the filtered records, in order", async () => {
    const page = await studio.open("#/products?weight_gte=43&_sort=-weight", "ann");
    await expect.poll(() => titles(page)).toHaveLength(3);
    await page.getByRole("button", { name: "Export" }).click();
    const waiting = page.waitForEvent("download");
    await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe("products.csv");
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    expect(lines.slice(1).map((line) => /Product \d+/.exec(line)?.[0])).toEqual([
      "Product 54",
      "Product 53",
      "Product 52",
    ]);
  });

  it("follows the run of a workflow, and shows why it was compensated", async () => {
    const page = await studio.open("#/products", "ann");
    await page.getByRole("button", { name: "Order" }).click();
    await page.getByLabel("Count").fill("99");
    await page.getByRole("button", { name: "Run" }).click();
    const report = page.getByRole("region", { name: "Run" });
    await report.getByText("Compensated").waitFor();
    expect(await report.textContent()).toMatch(/order[\s\S]*The maker has no more than ten/);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByRole("button", { name: "product.order" }).waitFor();
    await page.getByText("The maker has no more than ten").waitFor();
  });
});
