import { escapeHtml } from "./escape-html.ts";
import { conditions, partialNote, reasons, sectionsOf } from "./report.ts";
import { plot, ratioDomain } from "./report-plot.ts";
import type { Cell, Section } from "./report-sections.ts";
import { reportStyle } from "./report-style.ts";
import type { Results } from "./results.ts";

const anchor = (index: number): string => `figure-${index + 1}`;

/** A figure with its median in bold, as the Markdown has it. */
const figureHtml = (cell: Cell | undefined): string =>
  cell === undefined ? "–" : escapeHtml(cell.text).replace(/\*\*(.*?)\*\*/g, "<b>$1</b>");

function tableHtml({ columns, rows }: Section): string {
  const head = ["contender", ...columns].map((name) => `<th>${escapeHtml(name)}</th>`).join("");
  const body = rows
    .map(
      ({ contender, cells }) =>
        `<tr><td>${escapeHtml(contender)}</td>${cells.map((cell) => `<td>${figureHtml(cell)}</td>`).join("")}</tr>`,
    )
    .join("\n");
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

/** A card per column: its contenders among each other. Ratios have one scale in all cards. */
function cardsHtml({ plot: kind, columns, rows }: Section): string {
  const domain = kind === "ratio" ? ratioDomain(rows.flatMap(({ cells }) => cells)) : undefined;
  const cards = columns.map((column, place) => {
    const lines = rows.map(({ contender, cells }) => ({ label: contender, cell: cells[place] }));
    return `<figure class="card"><h3>${escapeHtml(column)}</h3>${plot(kind, lines, domain)}</figure>`;
  });
  return `<div class="cards">\n${cards.join("\n")}\n</div>`;
}

function sectionHtml(section: Section, index: number): string {
  return [
    `<section id="${anchor(index)}"><h2>${escapeHtml(section.title)}</h2>`,
    `<p class="quiet">${escapeHtml(section.note)}</p>`,
    cardsHtml(section),
    `<details><summary>As a table</summary>${tableHtml(section)}</details></section>`,
  ].join("\n");
}

const listHtml = (items: readonly string[]): string =>
  items.length === 0 ? "" : `<ul>\n${items.map((item) => `<li>${item}</li>`).join("\n")}\n</ul>`;

/** The results as one page of HTML that asks for nothing else: no scripts, no fonts, no pictures. */
export function renderPage(results: Results): string {
  const sections = sectionsOf(results);
  const contents = sections.map(({ title }, index) => `<a href="#${anchor(index)}">${escapeHtml(title)}</a>`);
  const contenders = results.contenders.map(({ id, note }) => `<b>${escapeHtml(id)}</b>: ${escapeHtml(note)}`);
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Benchmark results</title><style>${reportStyle}</style></head><body>`,
    "<h1>Benchmark results</h1>",
    results.settings.complete ? "" : `<p class="warning">${partialNote}</p>`,
    `<p class="quiet">${conditions(results).map(escapeHtml).join("<br>")}</p>`,
    "<p>The same model, rows and rules for everybody, and right answers before any load. Ratios come first: microseconds " +
      "belong to one machine on one day. Where two spreads overlap, the run does not tell the two apart.</p>",
    listHtml(contenders),
    listHtml(reasons(results).map(escapeHtml)),
    `<nav>${listHtml(contents)}</nav>`,
    ...sections.map(sectionHtml),
    "</body></html>",
    "",
  ].join("\n");
}
