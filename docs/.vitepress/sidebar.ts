import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DefaultTheme } from "vitepress";
import { referencePages } from "../../scripts/api-reference/reference-pages.ts";

const docs = fileURLToPath(new URL("..", import.meta.url));

/** Groups in their order; pages that a group does not name follow those it does, by title. */
const groups: readonly {
  readonly text: string;
  /** The folder below docs/ whose pages belong here. */
  readonly folder: string;
  readonly first: readonly string[];
  readonly collapsed?: boolean;
}[] = [
  { text: "Start", folder: "", first: ["getting-started", "comparison", "performance", "reliability", "support"] },
  {
    text: "Concepts",
    folder: "concepts",
    first: [
      "entities",
      "rules",
      "field-security",
      "actions",
      "workflows",
      "remote-joins",
      "plugins",
      "drivers",
      "adapters",
    ],
  },
  {
    text: "Guides",
    folder: "guides",
    first: [
      "cli",
      "existing-database",
      "identifiers",
      "kinds",
      "queries",
      "writing",
      "adapters",
      "client",
      "react",
      "openapi",
      "studio",
      "react-admin",
      "actions",
      "lost-updates",
      "retries",
      "workflows",
      "workflows-on-dbos",
      "remote-joins",
      "remote-services",
    ],
  },
  {
    text: "Security and operations",
    folder: "guides",
    first: [
      "jwt",
      "better-auth",
      "auth-js",
      "passwords",
      "encryption",
      "field-rules",
      "migrations",
      "rate-limits",
      "logging",
      "telemetry",
      "audit",
      "production",
      "migrate-from-express-prisma",
    ],
  },
  {
    text: "Extending",
    folder: "guides",
    first: ["write-a-plugin", "example-plugins", "test-a-plugin", "write-a-driver", "write-an-adapter"],
  },
  { text: "Reference", folder: "reference", first: ["http", "errors", "limits", "invariants", "hooks"] },
];

const title = (page: string): string =>
  (/^# (.*)$/m.exec(readFileSync(join(docs, `${page}.md`), "utf8"))?.[1] ?? page).replaceAll("`", "");

const pagesIn = (folder: string): string[] =>
  readdirSync(join(docs, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => `${folder === "" ? "" : `${folder}/`}${entry.name.slice(0, -3)}`)
    .sort();

const item = (page: string): DefaultTheme.SidebarItem => ({ text: title(page), link: `/${page}` });

/** The navigation at the side: every page of docs/, by area. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const named = new Set(groups.flatMap(({ folder, first }) => first.map((name) => join(folder, name))));
  const unnamed = new Set(["index", "architecture", "principles"]);
  const taken = new Set<string>();
  const areas = groups.map(({ text, folder, first }) => {
    const there = pagesIn(folder).filter((page) => !taken.has(page) && !unnamed.has(page));
    const chosen = first.map((name) => join(folder, name)).filter((page) => there.includes(page));
    // What no group names goes to the first one of its folder.
    const rest = there.filter((page) => !named.has(page)).sort((a, b) => (title(a) < title(b) ? -1 : 1));
    const pages = [...chosen, ...rest];
    for (const page of pages) taken.add(page);
    return { text, items: pages.map(item) };
  });
  return [...areas.filter(({ items }) => items.length > 0), exportsArea(), insideArea()];
}

function exportsArea(): DefaultTheme.SidebarItem {
  const pages = referencePages().map(({ id, title: text }) => ({ text, link: `/reference/api/${id}` }));
  return { text: "Exports", link: "/reference/api/", collapsed: true, items: pages };
}

function insideArea(): DefaultTheme.SidebarItem {
  const records = pagesIn("adr").filter((page) => page !== "adr/README");
  return {
    text: "Inside",
    items: [
      item("architecture"),
      item("principles"),
      { text: "Decisions", link: "/adr/", collapsed: true, items: records.map(item) },
    ],
  };
}
