import { describe, expect, it } from "vitest";
import { openStudio, told } from "../../support/studio/open-studio.ts";

const studio = openStudio();

describe("administration in the studio", () => {
  it("lists the runs of workflows, with their steps and compensations", async () => {
    await studio.shop.fetch(
      new Request("http://localhost/api/products/order", {
        method: "POST",
        headers: { authorization: "Bearer ann", "content-type": "application/json" },
        body: JSON.stringify({ count: 99 }),
      }),
    );
    await studio.shop.fetch(
      new Request("http://localhost/api/products/order", {
        method: "POST",
        headers: { authorization: "Bearer ann", "content-type": "application/json" },
        body: JSON.stringify({ count: 2 }),
      }),
    );
    const page = await studio.open("#/!operations", "root");
    const runs = page.getByRole("region", { name: "Workflow runs" });
    const rows = runs.locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/product\.order\s+Completed[\s\S]*ann/),
      expect.stringMatching(/Compensated[\s\S]*ann\s+order\s+The maker has no more than ten/),
    ]);
    await runs.getByLabel("Status").selectOption("compensated");
    await expect.poll(() => rows.count()).toBe(1);
    await runs.getByRole("button", { name: /^product\.order/ }).click();
    const steps = page.getByRole("dialog", { name: "Run" }).getByRole("region", { name: "Steps" });
    await steps.waitFor();
    expect(await steps.locator("tbody tr").allInnerTexts()).toEqual([
      expect.stringMatching(/reserve\s+Done\s+Done/),
      expect.stringMatching(/order\s+Failed\s+–\s+The maker has no more than ten/),
    ]);
    await page.keyboard.press("Escape");
    const other = await studio.open("#/!operations", "ann");
    await expect.poll(() => other.getByRole("region", { name: "Workflow runs" }).locator("tbody tr").count()).toBe(2);
    expect(await other.getByRole("region", { name: "Encryption keys" }).count()).toBe(0);
  });

  it("counts the values of each key, and rotates them", async () => {
    const page = await studio.open("#/!operations", "root");
    const keys = page.getByRole("region", { name: "Encryption keys" });
    await keys.getByRole("row", { name: "Product Secret v1 45" }).waitFor();
    await keys.getByRole("button", { name: "Rotate keys" }).click();
    await page.getByRole("dialog").getByText("All encrypted values get the key “v2”.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate keys" }).click();
    await told(page, /\d+ values were given the key “v2”/);
    await keys.getByText(/(\d+) of \1 records, \d+ values changed/).waitFor();
    await keys.getByRole("row", { name: "Product Secret v2 45" }).waitFor();
    expect(await keys.getByRole("row", { name: /v1/ }).count()).toBe(0);
    expect(await studio.shop.asSystem().product.get("p10")).toMatchObject({ secret: "canary-secret" });
  });

  it("counts the values of many records only on request", async () => {
    const page = await studio.open("#/", "root");
    let asked = 0;
    const usages = [{ entity: "product", field: "secret", keyId: "v2", values: 1_000 }];
    await page.route("**/studio/keys*", (route) => {
      asked++;
      const json = asked < 20 ? { ids: ["v2"], usages, next: `p${asked}` } : { ids: ["v2"], usages };
      return route.fulfill({ json });
    });
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByText("These are the values of the first records.").waitFor();
    await page.getByRole("row", { name: "Product Secret v2 5000" }).waitFor();
    expect(asked).toBe(5);
    await page.getByRole("button", { name: "Count all" }).click();
    await page.getByRole("row", { name: "Product Secret v2 15000" }).waitFor();
    expect(await page.getByRole("button", { name: "Count all" }).count()).toBe(0);
  });

  it("shows what another user sees, read-only, and logs it", async () => {
    const page = await studio.open("#/!operations", "root");
    const form = page.getByRole("region", { name: "View as another user" });
    await form.getByLabel("Id of a user").fill("nemo");
    await form.getByRole("button", { name: "View" }).click();
    await form.getByRole("alert").getByText("There is no such user").waitFor();
    await form.getByLabel("Id of a user").fill("ann");
    await form.getByRole("button", { name: "View" }).click();
    await page.getByText("You see what ann sees, and change nothing.").waitFor();
    const before = studio.sent.length;
    await page.evaluate(() => location.assign("#/products/p10"));
    await page.getByRole("heading", { name: "Product 10" }).waitFor();
    expect(await page.locator("main").textContent()).not.toMatch(/canary|991199/);
    for (const name of ["Delete", "Rename", "Archive"])
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
    await page.getByRole("link", { name: "Tags" }).last().click();
    await page.getByText("Nothing here yet.").waitFor();
    expect(await page.getByLabel("Add").count()).toBe(0);
    await page.evaluate(() => location.assign("#/products"));
    await page.locator("table.records").waitFor();
    expect(await page.getByRole("link", { name: "Create product" }).count()).toBe(0);
    await page.getByRole("button", { name: "Count" }).click();
    await page.getByText("45 records").waitFor();
    const calls = studio.sent.slice(before).filter(({ isAsset }) => !isAsset);
    expect(calls.length).toBeGreaterThan(3);
    expect(calls.filter(({ path, method }) => method !== "GET" || !path.startsWith("/studio/as/ann/"))).toEqual([]);
    await page.getByRole("button", { name: "Back to my own view" }).click();
    await page.getByText("root", { exact: true }).waitFor();
    await page.evaluate(() => location.assign("#/audit-entries?operation=view-as"));
    await page.getByText("GET /products/p10").first().waitFor();
  });
});
