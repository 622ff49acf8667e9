import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, posix, relative } from "node:path";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sidebar } from "../../docs/.vitepress/sidebar.ts";
import { namesByEntryPoint, referencePages } from "../../scripts/api-reference/reference-pages.ts";
import { axeProblems } from "../support/axe.ts";
import { testBrowser } from "../support/browser.ts";
import { builtOnce } from "../support/built-once.ts";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";
import { amount, oneOf } from "../support/suite.ts";

const EDIT_URL = "https://example.com/keelson/edit/main";

/** The folder of the built site. */
let site: string;

/**
 * Whether a process can have a network without a connection to other machines. If not, only the output is checked: it may
 * not refer to other hosts.
 */
const hasNamespaces = spawnSync("unshare", ["--net", "true"]).status === 0;

function offline(...words: string[]): string {
  const [command = "", ...rest] = hasNamespaces ? ["unshare", "--net", ...words] : words;
  const colours = amount({ SITE_WITHOUT_COLOURS: "1" }, {});
  const env = { ...process.env, SITE_EDIT_URL: EDIT_URL, ...colours };
  const run = spawnSync(command, rest, { cwd: repositoryRoot, encoding: "utf8", timeout: 280_000, env });
  expect(run.status, run.stdout + run.stderr).toBe(0);
  return run.stdout + run.stderr;
}

const node = process.execPath;
const tool = (path: string): string => join(repositoryRoot, "node_modules", path);
const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));

const api = join(repositoryRoot, "docs/reference/api");
const snapshot = (): Record<string, string> =>
  Object.fromEntries(files(api).map((file) => [file, readFileSync(join(api, file), "utf8")]));

/** Pages of the site by path, with their HTML. */
let pages: Map<string, string>;
let reference: Record<string, string>;

/** The folder of the API reference, generated once for each state of the sources. */
function referenceOfSources(): Promise<string> {
  const read = sourceFiles("", (path) => /^(src\/|scripts\/|tsconfig\.json$|package\.json$)/.test(path));
  return builtOnce("reference", read, async (draft) => {
    offline(node, tool("tsx/dist/cli.mjs"), "scripts/api-reference.ts");
    cpSync(api, draft, { recursive: true });
  });
}

/** The folder of the site, built once for each state of the pages. Dead links make the build fail. */
function siteOfPages(): Promise<string> {
  const read = sourceFiles("", (path) => /^(docs\/|scripts\/api-reference|test\/docs\/site|package\.json$)/.test(path));
  const generated = Object.entries(reference).map(([path, text]) => ({ path, text }));
  return builtOnce(`site-${amount("plain", "coloured")}`, [...read, ...generated], async (draft) => {
    offline(node, tool("vitepress/bin/vitepress.js"), "build", "docs", "--outDir", draft);
  });
}

beforeAll(async () => {
  const made = await referenceOfSources();
  rmSync(api, { recursive: true, force: true });
  cpSync(made, api, { recursive: true });
  reference = snapshot();
  site = await siteOfPages();
  pages = new Map(
    files(site)
      .filter((file) => file.endsWith(".html"))
      .map((file) => [file, readFileSync(join(site, file), "utf8")]),
  );
}, 600_000);

/** Values of an attribute of some elements, with entities resolved. */
const attributes = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, value = ""]) => value.replaceAll("&amp;", "&"));

const anchorsOf = (html: string): Set<string> => new Set(attributes(html, /\sid="([^"]*)"/g));

describe("the site", () => {
  it("has a page for every page of docs/, with a link in the sidebar", () => {
    const sources = sourceFiles("docs", (path) => path.endsWith(".md")).map(({ path }) =>
      path.slice("docs/".length, -3),
    );
    const generated = Object.keys(reference).map((file) => `reference/api/${file.slice(0, -3)}`);
    const linked = new Set<string>();
    const visit = (items: ReturnType<typeof sidebar>): void => {
      for (const { link, items: inner } of items) {
        if (link !== undefined) linked.add(link.slice(1).replace(/(^|\/)$/, "$1index"));
        visit(inner ?? []);
      }
    };
    visit(sidebar());
    const expected = [...sources, ...generated].map((page) => (page === "adr/README" ? "adr/index" : page));
    expect(expected.filter((page) => !pages.has(`${page}.html`))).toEqual([]);
    expect(expected.filter((page) => page !== "index" && !linked.has(page))).toEqual([]);
    expect([...linked].filter((page) => !pages.has(`${page}.html`))).toEqual([]);
    expect(pages.has("404.html")).toBe(true);
  });

  it("has no link to a missing page or anchor", () => {
    const broken: string[] = [];
    const anchors = new Map([...pages].map(([path, html]) => [path, anchorsOf(html)]));
    for (const [path, html] of pages)
      for (const href of attributes(html, /<a\b[^>]*\shref="([^"]*)"/g)) {
        if (/^(https?:|mailto:)/.test(href)) continue;
        const [address = "", anchor = ""] = href.split("#");
        const target =
          address === "" ? path : posix.join(dirname(`/${path}`), address.startsWith("/") ? "/" : "", address);
        const file = (address.startsWith("/") ? address : target).replace(/^\//, "").replace(/(^|\/)$/, "$1index.html");
        const found = anchors.get(file);
        if (!found && !existsSync(join(site, file))) broken.push(`${path}: ${href}`);
        else if (anchor !== "" && found && !found.has(decodeURIComponent(anchor))) broken.push(`${path}: ${href}`);
      }
    expect([...new Set(broken)]).toEqual([]);
  });

  it("loads nothing from another host", () => {
    const loaded = [...pages].flatMap(([path, html]) => [
      ...attributes(html, /<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\ssrc="([^"]*)"/g).map((src) => [
        path,
        src,
      ]),
      ...attributes(html, /<link\b[^>]*\shref="([^"]*)"/g).map((href) => [path, href]),
    ]);
    expect(loaded.length).toBeGreaterThan(pages.size);
    expect(loaded.filter(([, address]) => /^(?:[a-z]+:)?\/\//i.test(address as string))).toEqual([]);
    const styles = files(site).filter((file) => file.endsWith(".css"));
    for (const file of styles)
      expect(readFileSync(join(site, file), "utf8"), file).not.toMatch(/@import|url\(\s*["']?(?:https?:)?\/\//);
    expect(files(site).filter((file) => /\.(woff2?|ttf|otf)$/.test(file))).toEqual([]);
  });

  it("links each page to its source where it is told the address of the repository", () => {
    const links = ["guides/client.html", "adr/index.html"].map((path) =>
      attributes(pages.get(path) ?? "", /<a\b[^>]*\shref="([^"]*\/edit\/[^"]*)"/g),
    );
    expect(links).toEqual([[`${EDIT_URL}/docs/guides/client.md`], [`${EDIT_URL}/docs/adr/README.md`]]);
  });

  it("can be searched without a server", () => {
    const index = files(site).find((file) => file.includes("localSearchIndex")) as string;
    const text = readFileSync(join(site, index), "utf8");
    for (const term of ["softdeleteaction", "decryption_failed", "journalengine", "ownedby"])
      expect(text.toLowerCase(), term).toContain(term);
  });
});

describe("a page in a browser", () => {
  const browser = testBrowser();
  let server: Server;
  beforeAll(async () => {
    server = express().use(express.static(site)).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => server.close());

  // Each page in one of the themes at one of the widths; in all of them in the long suite.
  const looks = (["light", "dark"] as const).flatMap((theme) => [1280, 390].map((width) => [theme, width] as const));
  const shown = ["index.html", "getting-started.html", "guides/queries.html", "reference/api/index.html"];

  it.each(shown.flatMap((path, turn) => oneOf(turn, looks).map((look) => [path, ...look] as const)))(
    "has no violations for axe and no cut code: %s in %s at %d pixels",
    async (path, colorScheme, width) => {
      const page = await browser.newPage();
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`);
      await page.locator("main, .VPContent").first().waitFor();
      expect(await axeProblems(page)).toEqual([]);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll("pre")].filter((block) => block.scrollWidth > block.clientWidth).map(String),
      );
      expect(cut).toEqual([]);
    },
  );
});

describe("the API reference", () => {
  it("has each name of each entry point in one place, with a description", () => {
    const places = new Map<string, string[]>();
    for (const { id, names } of referencePages())
      for (const { name } of names) places.set(name, [...(places.get(name) ?? []), id]);
    const problems: string[] = [];
    for (const [entryPoint, names] of namesByEntryPoint())
      for (const { name } of names) {
        const [page, ...others] = places.get(name) ?? [];
        const section = page && sectionOf(reference[`${page}.md`] ?? "", name);
        if (!section || others.length > 0) problems.push(`${entryPoint}: ${name} is not in one place`);
        else if (!describes(section)) problems.push(`${entryPoint}: ${name} has no sentence`);
      }
    expect(problems).toEqual([]);
  });

  it("links only to itself, and not to the sources", () => {
    for (const [file, text] of Object.entries(reference)) {
      expect(text, file).not.toMatch(/github\.com\/keelson|Defined in|\bspec(ification)? \d/);
      expect(text, file).not.toContain("__namedParameters");
    }
  });
});

/** The page's section for a name, from its heading to the next one. */
function sectionOf(page: string, name: string): string | undefined {
  const escaped = name.replaceAll("$", "\\\\?\\$").replaceAll("_", "\\\\?_");
  return new RegExp(
    `^### (?:abstract )?${escaped}(?:\\(\\))?(?:&lt;.*)? \\{#.*\\n([\\s\\S]*?)(?=^#{1,3} |(?![\\s\\S]))`,
    "m",
  ).exec(page)?.[1];
}

/** Whether there is a description before the first label that does not belong to an overload. */
function describes(section: string): boolean {
  const lines = section.replace(/^```[\s\S]*?^```$/gm, "").split("\n");
  const end = lines.findIndex((line) => line.startsWith("#") || (line.startsWith("**") && !line.startsWith("**Call")));
  return lines.slice(0, end === -1 ? undefined : end).some((line) => {
    const words = line.replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, "").match(/[A-Za-z]{2,}/g) ?? [];
    return !/^[|*]/.test(line) && words.length >= 2;
  });
}

describe("the pages as Markdown", () => {
  it("are next to their HTML, and are listed in llms.txt with a description", () => {
    const list = readFileSync(join(site, "llms.txt"), "utf8");
    expect(list).toMatch(/^# Keelson\n\n> .+\n\n## Start\n\n- \[Getting started\]\(\/getting-started\.md\): \S/);
    const links = [...list.matchAll(/\]\((\/[^)]*\.md)\)/g)].map(([, link = ""]) => link.slice(1));
    expect(links.length).toBeGreaterThan(60);
    for (const link of links) expect(existsSync(join(site, link)), link).toBe(true);
    const guide = "guides/client.md";
    expect(readFileSync(join(site, guide), "utf8")).toBe(readFileSync(join(repositoryRoot, "docs", guide), "utf8"));
  });
});
