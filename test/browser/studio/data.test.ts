import { describe, expect, it } from "vitest";
import { openStudio, titles, told } from "../../support/studio/open-studio.ts";

const studio = openStudio();
const product = (id: string) => studio.shop.asSystem().product.get(id);

describe("data in the studio", () => {
  it("logs in with a pasted token, and forgets it at logout", async () => {
    const page = await studio.open("#/products");
    await page.getByRole("link", { name: "Log in" }).click();
    await page.getByLabel("Access token").fill("ann");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("ann", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByText("Not logged in").waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain("ann");
  });

  it("finds by text, and keeps the search in the link", async () => {
    const page = await studio.open("#/products", "ann");
    await page.keyboard.press("/");
    await page.keyboard.type("lamp");
    await page.keyboard.press("Enter");
    await expect.poll(() => titles(page)).toEqual(["Product 10"]);
    expect(page.url()).toContain("q=lamp");
    await page.reload();
    await expect.poll(() => titles(page)).toEqual(["Product 10"]);
  });

  it("filters by value, by operator and by related record", async () => {
    const page = await studio.open("#/products", "ann");
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByLabel("Field", { exact: true }).selectOption("weight");
    await page.getByLabel("Value: Weight").fill("40");
    await page.getByRole("button", { name: "Apply" }).click();
    await expect.poll(async () => (await titles(page)).length).toBe(6);
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByLabel("Field", { exact: true }).last().selectOption("makerId");
    await page.getByLabel("Value: Maker").click();
    await page.getByRole("option", { name: "Ferrum" }).click();
    await page.getByRole("button", { name: "Apply" }).click();
    await expect.poll(async () => (await titles(page)).length).toBe(3);
    const { data } = await studio.shop
      .as({ id: "ann" })
      .product.list({ where: { weight: { gte: 40 }, makerId: "m2" } });
    expect(new Set(await titles(page))).toEqual(new Set(data.map(({ name }) => name)));
    await page.getByRole("button", { name: "Remove: Maker" }).click();
    await expect.poll(async () => (await titles(page)).length).toBe(6);
  });

  it("finds records that match one of several filters", async () => {
    const page = await studio.open("#/products?weight_lte=2&weight_gte=45", "ann");
    await page.getByText("No records match.").waitFor();
    await page.getByLabel("Combine the filters").selectOption("any");
    await expect.poll(() => titles(page)).toEqual(["Product 10", "Product 11", "Product 54"]);
  });

  it("sorts, pages by cursor without a count, and counts on request", async () => {
    const before = studio.sent.length;
    const page = await studio.open("#/products?_limit=10", "ann");
    await page.getByRole("button", { name: "Name" }).click();
    await page.getByRole("button", { name: "Name" }).click();
    await expect.poll(async () => (await titles(page))[0]).toBe("Product 54");
    await page.getByRole("button", { name: "Next" }).click();
    await expect.poll(async () => (await titles(page))[0]).toBe("Product 44");
    await page.getByRole("button", { name: "Previous" }).click();
    await expect.poll(async () => (await titles(page))[0]).toBe("Product 54");
    await page.getByRole("button", { name: "Count" }).click();
    await page.getByText("45 records").waitFor();
    expect(studio.sent.slice(before).length).toBeGreaterThan(3);
  });

  it("shows the chosen columns", async () => {
    const page = await studio.open("#/products", "ann");
    await page.getByText("Columns").click();
    await page.getByLabel("About").check();
    await page.getByRole("columnheader", { name: "About" }).waitFor();
    expect(page.url()).toContain("about");
  });

  it("creates a record with a related one and several others", async () => {
    const page = await studio.open("#/products", "ann");
    await page.getByRole("link", { name: "Create product" }).click();
    await page.getByLabel("Name").fill("A new lamp");
    await page.getByLabel("Price").fill("12.30");
    await page.getByLabel("Since").fill("2026-05-31T10:00");
    await page.getByLabel("Facts").fill('{"watts":5}');
    await page.getByLabel("Maker").fill("lum");
    await page.getByRole("option", { name: "Lumen" }).click();
    await page.getByLabel("Tags").fill("ra");
    await page.getByRole("option", { name: "rare" }).click();
    await page.getByText("rare").first().waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await told(page, "Created");
    await page.getByRole("heading", { name: "A new lamp" }).waitFor();
    const [made] = (await studio.shop.asSystem().product.list({ where: { name: "A new lamp" }, include: ["tags"] }))
      .data;
    expect(made).toMatchObject({ price: "12.30", makerId: "m1", facts: { watts: 5 }, tags: [{ word: "rare" }] });
    expect(made?.since?.toISOString()).toBe("2026-05-31T10:00:00.000Z");
    await studio.shop.asSystem().product.delete(made?.id as string);
  });

  it("shows the API's messages about values at their fields, and stores nothing", async () => {
    const page = await studio.open("#/products/p11/edit", "ann");
    await page.getByLabel("Name").fill("x");
    await page.getByLabel("Weight").fill("many");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Please check 2 field(s).").waitFor();
    const name = page.getByLabel("Name");
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    const described = (await name.getAttribute("aria-describedby")) ?? "";
    expect(await page.locator(`[id="${described}"]`).textContent()).toBe("must be at least 3 characters");
    expect(await name.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await product("p11")).toMatchObject({ name: "Product 11", weight: 2 });
  });

  it("sends only the changed fields", async () => {
    const page = await studio.open("#/products/p12/edit", "ann");
    const request = page.waitForRequest((one) => one.method() === "PATCH");
    await page.getByLabel("Weight").fill("99");
    await page.getByRole("button", { name: "Save" }).click();
    expect((await request).postDataJSON()).toEqual({ weight: 99 });
    await told(page, "Saved");
    expect(await product("p12")).toMatchObject({ weight: 99, price: "3.50" });
  });

  it("merges two changes of one record, side by side", async () => {
    const page = await studio.open("#/products/p13/edit", "ann");
    await page.getByLabel("Name").fill("Mine");
    await page.getByLabel("Weight").fill("77");
    await studio.shop.asSystem().product.update("p13", { name: "Theirs", about: "also theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Someone else changed this record" });
    await dialog.getByLabel("Name: Now").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await told(page, "Saved");
    expect(await product("p13")).toMatchObject({ name: "Theirs", weight: 77, about: "also theirs" });
  });

  it("adds and removes records of a many-to-many relation", async () => {
    const page = await studio.open("#/products/p14?tab=tags", "ann");
    await page.getByLabel("Add").fill("ol");
    await page.getByRole("option", { name: "old" }).click();
    await page.getByRole("link", { name: "old" }).waitFor();
    await page.getByRole("button", { name: "Remove: old" }).click();
    await page.getByRole("link", { name: "old" }).waitFor({ state: "detached" });
    const { data } = await studio.shop.asSystem().product.list({ where: { id: "p14" }, include: ["tags"] });
    expect(data[0]?.tags).toEqual([]);
  });

  it("lists related records, and adds to them", async () => {
    const page = await studio.open("#/makers/m1", "ann");
    await page.getByRole("link", { name: "Products" }).last().click();
    await expect.poll(async () => (await titles(page)).length).toBe(20);
    await page.getByRole("link", { name: "Add" }).click();
    await expect.poll(() => page.getByLabel("Maker").inputValue()).toBe("Lumen");
    await page.getByLabel("Name").fill("By Lumen");
    await page.getByRole("button", { name: "Save" }).click();
    await told(page, "Created");
    const [made] = (await studio.shop.asSystem().product.list({ where: { name: "By Lumen" } })).data;
    expect(made?.makerId).toBe("m1");
    await studio.shop.asSystem().product.delete(made?.id as string);
  });

  it("deletes after a confirmation, if the caller may", async () => {
    await studio.shop.asSystem().product.create({ id: "doomed", name: "Doomed" });
    const clerk = await studio.open("#/products/doomed", "ann");
    await clerk.getByRole("heading", { name: "Doomed" }).waitFor();
    expect(await clerk.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    const page = await studio.open("#/products/doomed", "root");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await told(page, "Deleted");
    await expect(product("doomed")).rejects.toMatchObject({ status: 404 });
  });

  it("shows deleted records separately, and restores them", async () => {
    await studio.shop.asSystem().product.create({ id: "lost", name: "Lost lamp" });
    const page = await studio.open("#/products/lost", "ann");
    await page.getByRole("button", { name: "Soft delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Soft delete" }).click();
    await page.getByText("This record is deleted.").waitFor();
    await page.getByRole("link", { name: "Products" }).first().click();
    await page.getByLabel("Deleted only").check();
    await page.getByRole("link", { name: "Lost lamp" }).click();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("link", { name: "Edit" }).waitFor();
    expect(await product("lost")).toMatchObject({ deletedAt: null });
    await studio.shop.asSystem().product.delete("lost");
  });
});
