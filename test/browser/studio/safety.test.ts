import { describe, expect, it } from "vitest";
import { axeProblems } from "../../support/axe.ts";
import { untilQuiet } from "../../support/browser.ts";
import { goTo, openStudio } from "../../support/studio/open-studio.ts";
import { CANARIES } from "../../support/studio/shop.ts";
import { oneOf } from "../../support/suite.ts";

const studio = openStudio();

/** Every screen, with an open dialog if it has one. */
const SCREENS = [
  "#/",
  "#/products?weight_gte=3&_sort=-weight&maker.name_like=e",
  "#/products?name=none-of-that-name",
  "#/products/p10",
  "#/products/p10?tab=tags",
  "#/products/p10?tab=!history",
  "#/products/p10/edit",
  "#/products/!new",
  "#/products/!import",
  "#/products/!chart?group=month(since)",
  "#/makers/m1?tab=products",
  "#/audit-entries",
  "#/!operations",
  "#/!rights",
  "#/!login",
  "#/products/there-is-none",
];

const THEMES = ["light", "dark"] as const;
const WIDTHS = [390, 1280, 2560] as const;

describe("the studio's page", () => {
  // Each screen in one of the themes, and at one of the widths; in all of them in the long suite.
  it.each(THEMES)("has no axe violations on any screen in the %s theme", async (colorScheme) => {
    const page = await studio.open("#/", "root");
    await page.emulateMedia({ colorScheme });
    for (const screen of SCREENS.filter((_, index) => oneOf(index, THEMES).includes(colorScheme))) {
      await goTo(page, screen);
      expect([screen, await axeProblems(page)]).toEqual([screen, []]);
    }
  });

  it.each(WIDTHS)("needs no horizontal scrolling at %i pixels", async (width) => {
    const page = await studio.open("#/", "root");
    await page.setViewportSize({ width, height: 900 });
    for (const screen of SCREENS.slice(0, 13).filter((_, index) => oneOf(index, WIDTHS).includes(width))) {
      await goTo(page, screen);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([screen, overflow]).toEqual([screen, 0]);
    }
  });

  it("has no axe violations on the screens for administrators", async () => {
    const order = { method: "POST", headers: { authorization: "Bearer ann", "content-type": "application/json" } };
    const body = JSON.stringify({ count: 99 });
    await studio.shop.fetch(new Request("http://localhost/api/products/order", { ...order, body }));
    const page = await studio.open("#/!operations", "root");
    await page.getByRole("button", { name: "Rotate keys" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate keys" }).click();
    await page.getByText(/values changed/).waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.getByRole("button", { name: /^product\.order/ }).click();
    await page.getByRole("region", { name: "Steps" }).waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByLabel("Id of a user").fill("nemo");
    await page.getByRole("button", { name: "View", exact: true }).click();
    await page.getByText("There is no such user").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.getByLabel("Id of a user").fill("ann");
    await page.getByRole("button", { name: "View", exact: true }).click();
    await page.getByText("You see what ann sees").waitFor();
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      expect(await axeProblems(page)).toEqual([]);
    }
  });

  it("has no axe violations in its dialogs", async () => {
    const page = await studio.open("#/products/p10", "root");
    for (const name of ["Rename", "Soft delete", "Delete"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      expect(await axeProblems(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });

  it("sends requests to public routes only, each with the caller's token", async () => {
    const before = studio.sent.length;
    const page = await studio.open("#/", "ann");
    for (const screen of SCREENS.filter((one) => !one.includes("login")))
      await goTo(page, screen.replace("/there-is-none", ""));
    const sent = studio.sent.slice(before);
    const isStudio = ({ path }: { readonly path: string }): boolean => /^\/studio(\/[\w.-]+)?$/.test(path);
    expect(sent.filter((one) => one.isAsset && !isStudio(one))).toEqual([]);
    const calls = sent.filter(({ isAsset }) => !isAsset);
    const routes = studio.shop.routes
      .filter(({ plugin }) => plugin !== "studio")
      .map(({ method, path }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/:[^/]+/g, "[^/]+")}$`) }));
    const isPublic = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      path === "/studio/app.json" || routes.some((route) => route.method === method && route.pattern.test(path));
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.filter((one) => !isPublic(one))).toEqual([]);
    const withoutToken = calls.filter(({ authorization }) => authorization !== "Bearer ann");
    // Except the comparison with a visitor's rights, on its own screen.
    expect(withoutToken.map(({ path }) => path)).toEqual(["/studio/app.json"]);
  });

  it("shows a visitor what visitors may read, and no more", async () => {
    const responses: Promise<string>[] = [];
    const page = await studio.browser.newPage();
    page.on("response", (response) => {
      const isData = ["fetch", "xhr", "document"].includes(response.request().resourceType());
      if (isData) responses.push(response.text().catch(() => ""));
    });
    for (const [index, screen] of SCREENS.entries()) {
      // Another query, so that the page is loaded again.
      await page.goto(`${studio.url}/studio?${index}${screen}`);
      await untilQuiet(page);
      const shown = await page.locator("body").textContent();
      for (const canary of CANARIES) expect(shown).not.toContain(canary);
    }
    const texts = await Promise.all(responses);
    expect(texts.length).toBeGreaterThan(20);
    for (const canary of CANARIES) expect(texts.filter((text) => text.includes(canary))).toEqual([]);
    for (const name of ["purchase", "phone", "internal", "auditEntry"])
      expect(texts.filter((text) => text.includes(`"${name}"`))).toEqual([]);
  });

  it("runs no script that a record contains", async () => {
    const name = '<img src=x onerror="window.hit=1">';
    const { id } = await studio.shop.asSystem().product.create({ name, about: "<script>window.hit=2</script>" });
    const page = await studio.open(`#/products/${id}`, "ann");
    await page.getByRole("heading", { name }).waitFor();
    expect(await page.evaluate(() => "hit" in window)).toBe(false);
    await studio.shop.asSystem().product.delete(id);
  });

  it("keeps the input when a request is refused, and gives the reason", async () => {
    const page = await studio.open("#/products/p10/edit", "ann");
    await page.getByLabel("Name").fill("Not any more");
    await page.evaluate(() => sessionStorage.setItem("studio.token", "a token that has expired"));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("Authentication required").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Not any more");
  });
});
