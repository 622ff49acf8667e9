import { action, entity, int, type Keelson, keelson, memoryDriver, noopLogger, string, text } from "keelson";
import { openapi } from "keelson/openapi";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { axeProblems } from "../support/axe.ts";
import { testBrowser } from "../support/browser.ts";
import { type RunningApp, startApp } from "../support/http.ts";
import { oneOf } from "../support/suite.ts";

const note = entity("note", {
  title: string
    .min(3)
    .describe('<script>window.hit = "script"</script><b onmouseover="window.hit = 1">Shown on top</b>'),
  stars: int.min(1).max(5),
  text: text.optional(),
})
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["admin"], delete: ["admin"] })
  .actions({
    login: action()
      .rules("everyone")
      .input({ name: string })
      .output({ token: string })
      .handler(({ input }) => ({ token: input.name })),
  });

const NOTES = Array.from({ length: 5 }, (_, i) => ({ id: `n${i + 1}`, title: `Note ${i + 1}`, stars: i + 1 }));

function createNotes(production = false): Keelson<[typeof note]> {
  return keelson({
    entities: [note],
    driver: memoryDriver({ note: NOTES }),
    production,
    logger: noopLogger,
    getUser: ({ headers }) => {
      const id = headers.get("authorization")?.match(/^Bearer (ann|boss)$/)?.[1];
      return id === undefined ? null : { id, role: id === "boss" ? "admin" : "person" };
    },
    plugins: (defaults) => defaults.replace("openapi", openapi({ info: { title: "Notes" } })),
  }) as Keelson<[typeof note]>;
}

const browser = testBrowser();
let api: Keelson<[typeof note]>;
let app: RunningApp;
let page: Page;

beforeAll(async () => {
  api = createNotes();
  app = await startApp(api);
});
afterAll(() => app.close());

async function openDocs(): Promise<void> {
  page = await browser.newPage();
  await page.goto(`${app.url.replace("localhost", "127.0.0.1")}/docs`);
  await page.locator(".opblock").first().waitFor();
}

const summaries = async (): Promise<string[]> =>
  (await page.locator(".opblock-tag-section:has(#operations-tag-Notes) .opblock-summary-control").allInnerTexts()).map(
    (words) => words.replaceAll("\u200b", "").split(/\s+/).join(" "),
  );

/** Expands an operation, ready to be tried. */
async function tryOut(operation: string): Promise<Locator> {
  const block = page.locator(`#operations-Notes-${operation}`);
  await block.locator(".opblock-summary-control").click();
  await block.getByRole("button", { name: "Try it out" }).click();
  return block;
}

async function execute(block: Locator): Promise<{ readonly status: string; readonly body: string }> {
  await block.getByRole("button", { name: "Execute" }).click();
  const live = block.locator(".live-responses-table .response");
  await live.waitFor();
  return {
    status: (await live.locator(".response-col_status").textContent()) ?? "",
    body: (await live.locator(".highlight-code pre").first().textContent()) ?? "",
  };
}

async function authorize(token: string): Promise<void> {
  await page.getByRole("button", { name: "Authorize" }).click();
  const dialog = page.locator(".modal-ux");
  await dialog.getByRole("textbox").fill(token);
  await dialog.getByRole("button", { name: "Authorize" }).click();
  await dialog.getByRole("button", { name: "Close" }).last().click();
}

describe("the documentation page", () => {
  it("lists the operations of an anonymous caller", async () => {
    await openDocs();
    expect(await page.title()).toBe("Notes");
    expect(await page.locator(".info .title").textContent()).toContain("Notes");
    expect(await summaries()).toEqual([
      "GET /api/notes List notes",
      "GET /api/notes/aggregate Compute with notes",
      "GET /api/notes/{id} Read note",
      "POST /api/notes/login",
    ]);
  });

  it("shows the operations that match the filter", async () => {
    await openDocs();
    await page.getByPlaceholder("Filter").fill("health");
    await page.locator("#operations-tag-Notes").waitFor({ state: "detached" });
    expect(await page.locator(".opblock-tag").count()).toBe(1);
  });

  it("executes a list, and shows the response", async () => {
    await openDocs();
    const block = await tryOut("listNotes");
    await block.getByPlaceholder("_limit").fill("2");
    const { status, body } = await execute(block);
    expect([status, JSON.parse(body).map(({ id }: { id: string }) => id)]).toEqual(["200", ["n1", "n2"]]);
  });

  it("shows paging and fields first, and each operator on request", async () => {
    await openDocs();
    const block = await tryOut("listNotes");
    const names = (): Promise<(string | null)[]> =>
      block
        .locator("tr[data-param-name]")
        .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-param-name")));
    const first = await names();
    expect(first.slice(0, 3)).toEqual(["q", "_where", "_sort"]);
    expect(first).toEqual(expect.arrayContaining(["_page", "select", "title", "stars", "createdAt"]));
    expect(first.filter((name) => /_(gte|like|null)$/.test(name ?? ""))).toEqual([]);
    await block.getByRole("button", { name: /Show \d+ more filters/ }).click();
    expect(new Set(await names())).toEqual(new Set([...first, ...(await documented())]));
    await block.getByPlaceholder("stars_gte").fill("4");
    const { body } = await execute(block);
    expect(JSON.parse(body).map(({ stars }: { stars: number }) => stars)).toEqual([4, 5]);
  });

  it("shows the caller's document after login, sends their token, and forgets it", async () => {
    await openDocs();
    await authorize("ann");
    const create = page.locator("#operations-Notes-createNote");
    await create.waitFor();
    expect(await summaries()).toHaveLength(6);
    await tryOut("createNote");
    const body = create.locator("textarea.body-param__text");
    await body.fill('{ "title": "x", "stars": 9 }');
    const refused = await execute(create);
    expect([refused.status, JSON.parse(refused.body).errors]).toEqual([
      "400",
      { title: "must be at least 3 characters", stars: "must be at most 5" },
    ]);
    await body.fill('{ "title": "From the page", "stars": 3 }');
    await create.getByRole("button", { name: "Clear" }).click();
    const made = await execute(create);
    expect(made.status).toBe("201");
    expect(await api.asSystem().note.get(JSON.parse(made.body).id)).toMatchObject({ title: "From the page", stars: 3 });

    await page.getByRole("button", { name: "Authorize" }).click();
    await page.getByRole("button", { name: "Logout" }).click();
    await create.waitFor({ state: "detached" });
    expect(await page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }))).toEqual([]);
  });

  it("logs in with the app's own action, and keeps the token for the tab", async () => {
    await openDocs();
    const login = await tryOut("loginNote");
    await login.locator("textarea.body-param__text").fill('{ "name": "ann" }');
    await login.getByRole("button", { name: "Execute" }).click();
    const create = page.locator("#operations-Notes-createNote");
    await create.waitFor();
    await page.reload();
    await create.waitFor();
    const block = await tryOut("createNote");
    await block.locator("textarea.body-param__text").fill('{ "title": "After the login", "stars": 3 }');
    expect((await execute(block)).status).toBe("201");
  });

  // Each theme at one of the widths and in one of the states; in all of them in the long suite.
  it.each(
    (["light", "dark"] as const).flatMap((theme, turn) =>
      oneOf(turn, [390, 1280]).map((width) => [theme, width, oneOf(turn, ["dialog", "response"])] as const),
    ),
  )("has no violations for axe in %s, and fits %d pixels", { timeout: 240_000 }, async (colorScheme, width, states) => {
    page = await browser.newPage();
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.goto(`${app.url.replace("localhost", "127.0.0.1")}/docs`);
    await page.locator(".opblock").first().waitFor();
    const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    expect(background === "rgb(28, 32, 34)").toBe(colorScheme === "dark");
    if (states.includes("dialog")) {
      expect(await axeProblems(page)).toEqual([]);
      await page.getByRole("button", { name: "Authorize" }).click();
      await page.locator(".modal-ux[role]").waitFor();
      expect(await axeProblems(page)).toEqual([]);
      await page.locator(".modal-ux").getByRole("button", { name: "Close" }).last().click();
    }
    if (states.includes("response")) {
      await execute(await tryOut("listNotes"));
      await page.locator("#operations-Notes-loginNote .opblock-summary-control").click();
      await page.locator("#operations-Notes-loginNote .highlight-code").first().waitFor();
      await page.waitForFunction(() => document.querySelector("pre:not([tabindex])") === null);
      expect(await axeProblems(page)).toEqual([]);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  });

  it("runs no script from a description, and no script of another origin", async () => {
    await openDocs();
    await authorize("ann");
    await page.locator("#operations-Notes-createNote .opblock-summary-control").click();
    await page.getByRole("tab", { name: "Schema" }).first().click();
    await page.getByText("Expand all").first().click();
    await page.getByText("Shown on top").first().hover();
    const violated = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "window.hit = 2";
      const seen = new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), {
          once: true,
        });
      });
      document.body.append(script);
      return await seen;
    });
    expect(violated).toBe("script-src-elem");
    expect(await page.evaluate(() => "hit" in window)).toBe(false);
    expect(await page.locator("[onmouseover]").count()).toBe(0);
    // The browser reports the handler as well, when it parses the text from which Swagger UI removes it.
    for (const problem of browser.takeProblems()) expect(problem).toContain("Content Security Policy");
  });

  it("is disabled in production", async () => {
    const closed = await startApp(createNotes(true));
    onTestFinished(() => closed.close());
    page = await browser.newPage();
    const answer = await page.goto(`${closed.url.replace("localhost", "127.0.0.1")}/docs`);
    expect(answer?.status()).toBe(404);
    expect(browser.takeProblems()).toEqual([expect.stringMatching(/^404 for .*\/docs$/)]);
  });
});

/** Names of all parameters that the document has for the list. */
async function documented(): Promise<string[]> {
  const { paths, components } = await (await fetch(`${app.url}/openapi.json`)).json();
  return paths["/api/notes"].get.parameters.map(
    (parameter: { name: string; $ref?: string }) =>
      (parameter.$ref === undefined ? parameter : components.parameters[parameter.$ref.split("/").at(-1) as string])
        .name,
  );
}
