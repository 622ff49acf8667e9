import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DefaultTheme } from "vitepress";
import { sidebar } from "./sidebar.ts";

/** Every page of the navigation in its order, with the group that it is in. */
function entries(
  items: readonly DefaultTheme.SidebarItem[],
  group = "",
): { group: string; text: string; page: string }[] {
  return items.flatMap(({ text = "", link, items: inner }) => [
    ...(link === undefined || link.endsWith("/") ? [] : [{ group, text, page: link.slice(1) }]),
    ...entries(inner ?? [], group === "" ? text : group),
  ]);
}

/** The first paragraph of a page, on one line. */
function summaryOf(markdown: string): string {
  const paragraph = /^(?!#|```|\||\s*$)[\s\S]+?(?=\n\s*\n|$)/m.exec(markdown)?.[0] ?? "";
  const plain = paragraph.replaceAll(/\s+/g, " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return plain.length > 160 ? `${plain.slice(0, 157)}…` : plain;
}

/**
 * Writes each page as Markdown beside its HTML (`/guides/client.md`), and `llms.txt` (https://llmstxt.org), which lists
 * them for programs that read documentation.
 */
export function writePlainPages(docs: string, site: string): void {
  const lines = [
    "# Keelson",
    "",
    "> A secure REST API from entity definitions, on a plugin-first microkernel for TypeScript.",
  ];
  let current = "";
  for (const { group, text, page } of entries(sidebar())) {
    const source = join(docs, `${page}.md`);
    const target = join(site, `${page}.md`);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target);
    if (group !== current) lines.push("", `## ${group}`, "");
    current = group;
    lines.push(`- [${text}](/${page}.md): ${summaryOf(readFileSync(source, "utf8"))}`);
  }
  writeFileSync(join(site, "llms.txt"), `${lines.join("\n")}\n`);
}
