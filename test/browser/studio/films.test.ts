import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noopLogger } from "keelson";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ada, grace } from "../../../examples/films/people.ts";
import { type OpenFilms, openFilms } from "../../../examples/react-admin/open-films.ts";
import { testBrowser } from "../../support/browser.ts";
import { type RunningApp, startApp } from "../../support/http.ts";
import { titles, told } from "../../support/studio/open-studio.ts";

const browser = testBrowser();
let folder = "";
let films: OpenFilms;
let app: RunningApp;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "studio-films-"));
  films = await openFilms(join(folder, "films.db"), { logger: noopLogger });
  app = await startApp(films.api);
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

async function open(place: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${app.url.replace("localhost", "127.0.0.1")}/studio${place}`);
  return page;
}

async function logIn(person: typeof ada | typeof grace, place = "#/films"): Promise<Page> {
  const page = await open("#/!login");
  await page.getByLabel("Email").fill(person.email);
  await page.getByLabel("Password").fill(films.passwords[person.id]);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText(person.id, { exact: true }).waitFor();
  await page.evaluate((hash) => location.assign(hash), place);
  return page;
}

const filmNamed = async (title: string) => (await films.api.asSystem().film.list({ where: { title } })).data[0];

describe("the films in the studio", () => {
  it("logs in with the app's own login, and explains a failure", async () => {
    const page = await open("#/!login");
    await page.getByLabel("Email").fill(ada.email);
    await page.getByLabel("Password").fill("not her password");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").getByText("E-mail or password is wrong").waitFor();
    await page.getByLabel("Password").fill(films.passwords.ada);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("ada", { exact: true }).waitFor();
  });

  it("asks for a login again when a token has expired", async () => {
    const page = await browser.newPage();
    await page.addInitScript(() => {
      if (sessionStorage.length === 0) sessionStorage.setItem("studio.token", "e30.e30.expired");
    });
    await page.goto(`${app.url.replace("localhost", "127.0.0.1")}/studio#/films`);
    await page.getByLabel("Email").fill(ada.email);
    await page.getByLabel("Password").fill(films.passwords.ada);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("ada", { exact: true }).waitFor();
    await page.locator("table.records").waitFor();
  });

  it("finds films by rating and by the name of their genre", async () => {
    const page = await logIn(ada, "#/films?imdbRating_gte=8.8&_sort=title");
    await page.locator("table.records").waitFor();
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByLabel("Field", { exact: true }).last().selectOption("genre.name");
    await page.getByLabel("Condition").last().selectOption("eq");
    await page.getByLabel("Value: Genre › Name").fill("Drama");
    await page.getByRole("button", { name: "Apply" }).click();
    const where = { imdbRating: { gte: 8.8 }, genre: { name: "Drama" } };
    const { data } = await films.api.as(ada).film.list({ where, sort: ["title"] });
    await expect.poll(() => titles(page)).toEqual(data.map(({ title }) => title));
  });

  it("allows Ada to review a film, but not to change films", async () => {
    const film = await filmNamed("Inception");
    const page = await logIn(ada, `#/films/${film?.id}`);
    await page.getByRole("heading", { name: "Inception" }).waitFor();
    expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
    await page.getByRole("link", { name: "Reviews" }).last().click();
    await page.getByRole("link", { name: "Add" }).click();
    await page.getByLabel("Text").fill("Seen again, and still good.");
    await page.getByLabel("Stars").fill("6");
    await page.getByLabel("Note").fill("With Grace.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must be at most 5").waitFor();
    await page.getByLabel("Stars").fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    await told(page, "Created");
    await page.getByText("With Grace.").waitFor();
    const { data } = await films.api.asSystem().review.list({ where: { filmId: film?.id as string } });
    expect(data).toMatchObject([{ authorId: "ada", stars: 5 }]);
    const other = await logIn(grace, `#/reviews/${data[0]?.id}`);
    await other.getByRole("heading", { name: "Seen again" }).waitFor();
    expect(await other.locator("main").textContent()).not.toContain("With Grace.");
  });

  it("allows Grace to change a film and its related records", async () => {
    const film = await filmNamed("Pulp Fiction");
    const page = await logIn(grace, `#/films/${film?.id}/edit`);
    await page.getByLabel("Running time").fill("154");
    await page.getByLabel("Director").fill("nolan");
    await page.getByRole("option", { name: "Christopher Nolan" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await told(page, "Saved");
    await page.getByRole("link", { name: "Christopher Nolan" }).waitFor();
    expect(await filmNamed("Pulp Fiction")).toMatchObject({ runningTime: 154 });
  });

  it("replaces a related record's title with the typed text, even if it arrives late", async () => {
    const film = await filmNamed("Reservoir Dogs");
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const page = await logIn(grace);
    await page.route(/api\/directors\/[^/]+$/, async (route) => {
      await released;
      await route.continue();
    });
    await page.evaluate((hash) => location.assign(hash), `#/films/${film?.id}/edit`);
    const box = page.getByLabel("Director");
    await box.focus();
    release();
    await page.waitForFunction(() => (document.activeElement as HTMLInputElement).value === "Quentin Tarantino");
    await page.keyboard.type("nolan");
    await page.getByRole("option", { name: "Christopher Nolan" }).waitFor();
    expect(await box.inputValue()).toBe("nolan");
  });

  it("imports films for Grace, and lists the rows with errors", async () => {
    const page = await logIn(grace, "#/films/!import");
    await page.getByLabel("Or paste the rows here").fill("title,runningTime\nA new film,90\n,80\nNo time,soon\n");
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("Checked: 1 would be created, 0 changed, 2 refused.").waitFor();
    expect(await page.getByRole("table", { name: "Refused rows" }).locator("tbody tr").allInnerTexts()).toEqual([
      expect.stringMatching(/2\s+title/),
      expect.stringMatching(/3\s+runningTime/),
    ]);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText("1 created, 0 changed, 2 refused.").waitFor();
    expect(await filmNamed("A new film")).toMatchObject({ runningTime: 90 });
  });

  it("shows Grace the keys of the notes, and rotates them", async () => {
    const film = await filmNamed("The Matrix");
    const review = { text: "Twice.", stars: 4, note: "canary", filmId: film?.id as string, authorId: "grace" };
    await films.api.asSystem().review.create(review);
    const page = await logIn(grace, "#/!operations");
    const keys = page.getByRole("region", { name: "Encryption keys" });
    await keys.getByRole("row", { name: /^Review Note v1/ }).waitFor();
    await keys.getByRole("button", { name: "Rotate keys" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate keys" }).click();
    await keys.getByText(/(\d+) of \1 records, 0 values changed/).waitFor();
    const visitor = await open("#/!operations");
    await visitor.getByText("The app answers, and so does its database.").waitFor();
    expect(await visitor.getByRole("region", { name: "Encryption keys" }).count()).toBe(0);
  });

  it("shows each caller the fields of people that they may see", async () => {
    const visitor = await open("#/users/grace");
    await visitor.getByRole("heading", { name: "Grace" }).waitFor();
    expect(await visitor.locator("main").textContent()).not.toContain(grace.email);
    const page = await logIn(grace, "#/users/ada");
    await page.getByText(ada.email).waitFor();
  });

  it("draws the charts of the first page", async () => {
    const page = await logIn(ada, "#/");
    await page.getByRole("img", { name: "Films by year" }).waitFor();
    await page.getByRole("img", { name: "Average rating by genre" }).waitFor();
  });
});
