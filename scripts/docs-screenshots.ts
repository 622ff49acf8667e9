import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { noopLogger } from "keelson";
import type { Browser, Page } from "playwright-core";
import { ada, grace } from "../examples/films/people.ts";
import { createApp } from "../examples/react-admin/app.ts";
import { bundlePage } from "../examples/react-admin/bundle-page.ts";
import { type OpenFilms, openFilms } from "../examples/react-admin/open-films.ts";
import { launchBrowser } from "../test/support/launch-browser.ts";

// `npm run docs:screenshots` takes the pictures of docs/images again. They show the port, which `PORT` sets. With
// `-- --studio folder` it puts pictures of the studio's screens there instead, at three widths and in both themes.
const images = fileURLToPath(new URL("../docs/images/", import.meta.url));
const { values } = parseArgs({ options: { studio: { type: "string" } } });

interface Studio {
  readonly browser: Browser;
  readonly url: string;
  readonly films: OpenFilms;
}

/** The documentation page as Ada sees it, with the operation that creates a review open. */
async function docsPage({ browser, url, films }: Studio): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1080 } });
  const { token } = await films.api.asSystem().user.login({ email: ada.email, password: films.passwords.ada });
  await page.goto(`${url}/docs`);
  await page.getByRole("button", { name: "Authorize" }).click();
  await page.locator(".modal-ux").getByRole("textbox").fill(token);
  await page.locator(".modal-ux .authorize").click();
  await page.locator(".modal-ux .btn-done").click();
  for (const tag of ["Films", "Directors", "Distributors", "Genres"])
    await page.locator(`#operations-tag-${tag}`).click();
  await page.locator("#operations-Reviews-createReview .opblock-summary-control").click();
  await page.locator("#operations-Reviews-createReview .highlight-code").first().waitFor();
  await settle(page);
  return await page.screenshot();
}

/** The list of films above, and below a form with errors at its fields. */
async function reactAdmin({ browser, url, films }: Studio): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 540 } });
  await page.goto(`${url}/admin/`);
  await page.getByLabel("Username").fill(grace.email);
  await page.getByRole("textbox", { name: "Password" }).fill(films.passwords.grace);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("cell", { name: "Francis Ford Coppola" }).first().waitFor();
  await settle(page);
  const list = await page.screenshot();
  await page.getByRole("cell", { name: "Inception" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("");
  await page.getByRole("spinbutton", { name: "IMDb rating" }).fill("11");
  await page.setViewportSize({ width: 1200, height: 860 });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("must be at most 10").waitFor();
  await settle(page);
  return await stack(page, [list, await page.screenshot()]);
}

const THEMES = ["light", "dark"] as const;
const LIST = "films?imdbRating_gte=8&genre.name=Drama&_sort=-imdbRating";

/** A screen of the studio as Grace sees it. */
async function screen(
  { browser, url, films }: Studio,
  place: string,
  width: number,
  colorScheme: (typeof THEMES)[number],
): Promise<{ readonly page: Page; readonly png: Buffer }> {
  const { token } = await films.api.asSystem().user.login({ email: grace.email, password: films.passwords.grace });
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
  await page.addInitScript((kept) => sessionStorage.setItem("studio.token", kept), token);
  await page.goto(`${url}/studio#/${place}`);
  await page.locator("h1").waitFor();
  await settle(page);
  return { page, png: await page.screenshot() };
}

/** Pictures of the studio's screens at three widths, in both themes. */
async function studioScreens(studio: Studio, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { data } = await studio.films.api.asSystem().film.list({ where: { title: "Inception" } });
  const record = `films/${data[0]?.id}`;
  const screens = {
    home: "",
    list: LIST,
    record,
    reviews: `${record}?tab=reviews`,
    form: `${record}/edit`,
    import: "films/!import",
    rights: "!rights",
    operations: "!operations",
  };
  for (const [name, place] of Object.entries(screens))
    for (const width of [390, 1280, 2560])
      for (const theme of THEMES) {
        const { page, png } = await screen(studio, place, width, theme);
        await writeFile(join(folder, `${name}-${width}-${theme}.png`), png);
        await page.close();
      }
}

/** A list of films in the studio, and on a phone at night. */
async function studioPage(studio: Studio): Promise<Buffer> {
  const { png: narrow } = await screen(studio, LIST, 390, "dark");
  const { page, png: wide } = await screen(studio, LIST, 1280, "light");
  const tags = [wide, narrow].map((png) => `<img src="data:image/png;base64,${png.toString("base64")}">`);
  await page.setViewportSize({ width: 1280 + 390 + 24, height: 800 });
  await page.goto("about:blank");
  await page.setContent(`<style>body { margin: 0; display: flex; gap: 24px }</style>${tags.join("")}`);
  return await page.screenshot({ fullPage: true });
}

/** Pictures below one another. */
async function stack(page: Page, pictures: readonly Buffer[]): Promise<Buffer> {
  const tags = pictures.map((png) => `<img src="data:image/png;base64,${png.toString("base64")}">`);
  await page.goto("about:blank");
  await page.setContent(`<style>body { margin: 0; display: grid; gap: 16px }</style>${tags.join("")}`);
  return await page.screenshot({ fullPage: true });
}

/** Until nothing moves any more, and nothing is pointed at. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.mouse.move(0, 0);
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(1_000);
}

const folder = mkdtempSync(join(tmpdir(), "docs-screenshots-"));
const files = join(folder, "page");
const films = await openFilms(join(folder, "films.db"), { logger: noopLogger });
await bundlePage(files);
const server = createApp(films.api, files).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");
const browser = await launchBrowser();
try {
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const studio: Studio = { browser, url, films };
  if (values.studio !== undefined) await studioScreens(studio, values.studio);
  else {
    mkdirSync(images, { recursive: true });
    for (const [name, take] of [
      ["docs-page", docsPage] as const,
      ["react-admin", reactAdmin] as const,
      ["studio", studioPage] as const,
    ]) {
      const png = await take(studio);
      await writeFile(join(images, `${name}.png`), png);
      console.log(`docs/images/${name}.png  ${Math.ceil(png.length / 1024)} KiB`);
    }
  }
} finally {
  await browser.close();
  server.close();
  await films.api.close();
  rmSync(folder, { recursive: true });
}
