import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noopLogger } from "keelson";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ada, grace } from "../../examples/films/people.ts";
import { createApp } from "../../examples/react-admin/app.ts";
import { bundlePage } from "../../examples/react-admin/bundle-page.ts";
import { type OpenFilms, openFilms } from "../../examples/react-admin/open-films.ts";
import { testBrowser } from "../support/browser.ts";

const browser = testBrowser();
let folder = "";
let films: OpenFilms;
let server: Server;
let url = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "films-admin-"));
  const page = join(folder, "page");
  [films] = await Promise.all([openFilms(join(folder, "films.db"), { logger: noopLogger }), bundlePage(page)]);
  server = createApp(films.api, page).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await films.api.close();
  rmSync(folder, { recursive: true });
});

async function fillLogin(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("Username").fill(email);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function logIn(person: typeof ada | typeof grace): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  await fillLogin(page, person.email, films.passwords[person.id]);
  await page.getByText("1-10 of 175").waitFor();
  return page;
}

/** Runs an action, and waits for the list that the page requests next. */
async function nextList(page: Page, act: () => Promise<void>): Promise<void> {
  const answer = page.waitForResponse((response) => /\/api\/films\?.*_start/.test(response.url()));
  await act();
  await answer;
}

const cells = (page: Page, column: string): Promise<string[]> =>
  page.locator(`tbody td.column-${column}`).allTextContents();
const filmNamed = async (title: string) =>
  (await films.api.asSystem().film.list({ where: { title }, include: ["reviews"] })).data[0];

describe("react-admin on the films API, with its unmodified json-server provider", () => {
  it("shows nothing before login, explains a failed login, and clears all at logout", async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/admin/#/films`);
    await fillLogin(page, grace.email, "not her password");
    await page.getByText("E-mail or password is wrong").waitFor();
    await fillLogin(page, grace.email, films.passwords.grace);
    await page.getByText("1-10 of 175").waitFor();
    await page.getByRole("button", { name: "Profile" }).click();
    await page.getByRole("menuitem", { name: "Logout" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain("eyJ");
  });

  it("lists, sorts, pages and filters", async () => {
    const page = await logIn(ada);
    await page.getByRole("cell", { name: "Francis Ford Coppola" }).first().waitFor();
    const ratings = (await cells(page, "imdbRating")).map(Number);
    expect(ratings).toEqual([...ratings].sort((a, b) => b - a));

    await nextList(page, () => page.getByRole("button", { name: "Title" }).click());
    await expect.poll(() => cells(page, "title")).toContain("12 Angry Men");
    const { data } = await films.api.as(ada).film.list({ sort: ["title"], limit: 20 });
    expect(await cells(page, "title")).toEqual(data.slice(0, 10).map(({ title }) => title));
    await nextList(page, () => page.getByRole("button", { name: "Go to page 2" }).click());
    await page.getByText("11-20 of 175").waitFor();
    expect(await cells(page, "title")).toEqual(data.slice(10).map(({ title }) => title));

    await page.getByLabel("Rated at least").fill("8.8");
    await page.getByLabel("Genre").click();
    await page.getByRole("option", { name: "Drama" }).click();
    const where = { imdbRating: { gte: 8.8 }, genre: { name: "Drama" } };
    const dramas = await films.api.as(ada).film.list({ where, sort: ["title"] });
    await page.getByText(`1-${dramas.total} of ${dramas.total}`).waitFor();
    expect(await cells(page, "title")).toEqual(dramas.data.map(({ title }) => title));
    await page.getByLabel("Search").fill("pulp");
    await page.getByText("1-1 of 1").waitFor();
    expect(await cells(page, "title")).toEqual(["Pulp Fiction"]);
  });

  it("stores an admin's changes", async () => {
    const page = await logIn(grace);
    await page.getByRole("cell", { name: "Inception" }).click();
    await page.getByLabel("Running time in minutes").fill("148");
    await page.getByLabel("Director").fill("Quentin");
    await page.getByRole("option", { name: "Quentin Tarantino" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Element updated").waitFor();
    const [director] = (await films.api.asSystem().director.list({ where: { name: "Quentin Tarantino" } })).data;
    const stored = await filmNamed("Inception");
    expect(stored).toMatchObject({ runningTime: 148, directorId: director?.id });
    expect(stored?.releaseDate?.toISOString()).toBe("2010-07-16T00:00:00.000Z");
  });

  it("shows the API's message about a value at its field, and stores nothing", async () => {
    const page = await logIn(grace);
    await page.getByRole("cell", { name: "The Dark Knight" }).click();
    const title = page.getByRole("textbox", { name: "Title" });
    const rating = page.getByRole("spinbutton", { name: "IMDb rating" });
    await title.fill("");
    await rating.fill("11");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The form is not valid").waitFor();
    const messageAt = async (field: typeof title) =>
      await page.locator(`[id="${await field.getAttribute("aria-describedby")}"]`).textContent();
    expect([await messageAt(title), await messageAt(rating)]).toEqual(["is required", "must be at most 10"]);
    expect(await filmNamed("The Dark Knight")).toMatchObject({ imdbRating: 8.9 });
  });

  it("creates a film on the chosen day", async () => {
    const page = await logIn(grace);
    await page.getByRole("link", { name: "Create" }).click();
    await page.getByRole("textbox", { name: "Title" }).fill("A film of this test");
    await page.getByLabel("Release date").fill("2001-02-03");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("1-10 of 176").waitFor();
    const made = await filmNamed("A film of this test");
    expect(made?.releaseDate?.toISOString()).toBe("2001-02-03T00:00:00.000Z");
    await films.api.asSystem().film.delete(made?.id as string);
  });

  it("shows a refusal to a user without the right, and stores nothing", async () => {
    const page = await logIn(ada);
    await page.getByRole("cell", { name: "Pulp Fiction" }).click();
    await page.getByLabel("Running time in minutes").fill("1");
    const refused = page.waitForResponse((response) => response.request().method() === "PUT");
    await page.getByRole("button", { name: "Save" }).click();
    const { message, code } = await (await refused).json();
    expect(code).toBe("FORBIDDEN");
    await page.getByText(message).waitFor();
    expect((await filmNamed("Pulp Fiction"))?.runningTime).not.toBe(1);
    expect(await page.getByRole("button", { name: "Profile" }).textContent()).toBe("Ada");
  });

  it("writes a review in the caller's name, and shows its film and author", async () => {
    const page = await logIn(ada);
    await page.getByRole("menuitem", { name: "Reviews" }).click();
    await page.getByRole("row", { name: /Groundhog Day Ada/ }).waitFor();
    await page.getByRole("link", { name: "Create" }).click();
    await page.getByLabel("Film", { exact: true }).fill("the matr");
    await page.getByRole("option", { name: "The Matrix", exact: true }).click();
    await page.getByLabel("Stars").fill("4");
    await page.getByLabel("Text").fill("Bullets wait for the camera.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: "The Matrix Ada 4 Bullets wait for the camera." }).waitFor();
    expect((await filmNamed("The Matrix"))?.reviews).toMatchObject([{ authorId: "ada", stars: 4 }]);
  });
});
