import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener, Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Keelson, noopLogger } from "keelson";
import jsonServerProvider from "ra-data-json-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grace } from "../../examples/films/people.ts";
import { bundlePage } from "../../examples/react-admin/bundle-page.ts";
import { type OpenFilms, openFilms } from "../../examples/react-admin/open-films.ts";
import { testBrowser } from "../support/browser.ts";
import { openPage, type Page } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";

const browser = testBrowser();
let guide: Page;
let folder = "";
let films: OpenFilms;
let server: Server;
let url = "";

beforeAll(async () => {
  guide = openPage("guides/react-admin");
  folder = mkdtempSync(join(tmpdir(), "react-admin-guide-"));
  const page = join(folder, "page");
  films = await openFilms(join(folder, "films.db"), { logger: noopLogger });
  await bundlePage(page, guide.file("main.tsx"));
  type Make = (api: Keelson, page: string) => RequestListener;
  const { createApp } = await guide.load<{ createApp: Make }>("server.ts");
  server = createServer(createApp(films.api as unknown as Keelson, page)).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await films.api.close();
  rmSync(folder, { recursive: true });
  guide.remove();
});

describe("docs/guides/react-admin.md", () => {
  it("shows a page that works: login, list, filter, a message at its field", async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/admin/`);
    await page.getByLabel("Username").fill(grace.email);
    await page.getByRole("textbox", { name: "Password" }).fill(films.passwords.grace);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Search").fill("pulp fic");
    await page.getByText("1-1 of 1").waitFor();
    await page.getByRole("row", { name: "Pulp Fiction Drama 8.9" }).click();
    await page.getByRole("spinbutton", { name: "IMDb rating" }).fill("11");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must be at most 10").waitFor();
  });

  it.each(["data-provider.ts", "session.ts", "auth-provider.ts"])("shows %s as in the example", (name) => {
    const [, ...lines] = readFileSync(guide.file(name), "utf8").split("\n");
    expect(lines.join("\n")).toBe(readFileSync(join(repositoryRoot, "examples/react-admin/page", name), "utf8"));
  });

  it("lists what the provider sends", async () => {
    const sent: string[] = [];
    const provider = jsonServerProvider("/api", async (address, { method = "GET" } = {}) => {
      sent.push(`${method} ${address}`);
      return { status: 200, headers: new Headers({ "x-total-count": "0" }), body: "{}", json: [{ id: "f1" }] };
    });
    const list = { pagination: { page: 1, perPage: 10 }, sort: { field: "title", order: "ASC" as const }, filter: {} };
    await provider.getList("films", { ...list, pagination: { page: 2, perPage: 10 } });
    await provider.getList("films", { ...list, filter: { imdbRating_gte: 8 } });
    await provider.getOne("films", { id: "f1", meta: { embed: "genre" } });
    await provider.getMany("genres", { ids: ["g1", "g2"] });
    await provider.getManyReference("films", { ...list, target: "genreId", id: "g1" });
    await provider.create("films", { data: {} });
    await provider.update("films", { id: "f1", data: {}, previousData: { id: "f1" } });
    await provider.delete("films", { id: "f1" });
    const table = [...guide.text.matchAll(/^\| .* \| `((?:GET|POST|PUT|DELETE) [^`]+)`.* \|$/gm)].map(
      ([, says]) => says,
    );
    expect(table).toEqual(sent);
  });

  it("lists what an update may send back", async () => {
    const { data } = await films.api.asSystem().film.list({ where: { title: "Inception" }, include: ["genre"] });
    const { token } = await films.api.asSystem().user.login({ email: grace.email, password: films.passwords.grace });
    const answer = await fetch(`${url}/api/films/${data[0]?.id}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(data[0]),
    });
    expect(answer.status).toBe(200);
  });
});
