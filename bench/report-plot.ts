import { escapeHtml } from "./escape-html.ts";
import type { Cell, PlotKind } from "./report-sections.ts";

/** One line of a plot. */
export interface PlotRow {
  readonly label: string;
  readonly cell: Cell | undefined;
}

/** From a value to a place, both in the plot's own units. */
type Scale = (value: number) => number;

// A card is about as wide as a phone, so text keeps its size there.
const labelWidth = 108;
const plotWidth = 138;
const textWidth = 114;
const width = labelWidth + plotWidth + textWidth;
const rowHeight = 22;
const top = 6;
/** Room for a mark at either end. */
const inset = 6;

// Bars begin at their axis, marks a little after it.
const leftOf = (kind: PlotKind): number => labelWidth + (kind === "bar" ? 0 : inset);

const n = (value: number): string => value.toFixed(1);

function numbersOf(cells: readonly (Cell | undefined)[]): number[] {
  return cells.flatMap((cell) => [...(cell?.value === undefined ? [] : [cell.value]), ...(cell?.range ?? [])]);
}

/** Ratios are drawn on a logarithmic scale: twice as much is as far from 1 as half as much. */
export function ratioDomain(cells: readonly (Cell | undefined)[]): readonly [number, number] {
  const values = [...numbersOf(cells), 0.5, 2].filter((value) => value > 0);
  return [Math.min(...values), Math.max(...values)];
}

function scaleOf(kind: PlotKind, domain: readonly [number, number]): Scale {
  const [from, to] = kind === "ratio" ? (domain.map(Math.log) as [number, number]) : [0, domain[1] || 1];
  const plotLeft = leftOf(kind);
  return (value) => {
    const at = kind === "ratio" ? Math.log(value) : value;
    return plotLeft + ((at - from) / (to - from)) * (labelWidth + plotWidth - inset - plotLeft);
  };
}

/** Halves and doubles; the line at 1 is what everybody is compared with. */
function ratioGrid(scale: Scale, [from, to]: readonly [number, number], height: number): string {
  const lines: string[] = [];
  for (let power = Math.ceil(Math.log2(from)); power <= Math.floor(Math.log2(to)); power++) {
    const x = n(scale(2 ** power));
    lines.push(`<line class="${power === 0 ? "one" : "grid"}" x1="${x}" y1="0" x2="${x}" y2="${height - 14}"/>`);
    const name = power < 0 ? `1/${2 ** -power}` : String(2 ** power);
    lines.push(`<text class="tick" x="${x}" y="${height - 3}">${name}</text>`);
  }
  return lines.join("");
}

const shortText = (cell: Cell | undefined): string => (cell === undefined ? "–" : cell.text.replaceAll("**", ""));

function mark(kind: PlotKind, cell: Cell | undefined, scale: Scale, y: number): string {
  if (cell?.value === undefined) return "";
  const x = scale(cell.value);
  const [from, to] = cell.range ?? [cell.value, cell.value];
  const line = `<line class="spread" x1="${n(scale(from))}" y1="${y}" x2="${n(scale(to))}" y2="${y}"/>`;
  if (kind === "bar") {
    const bar = `<rect class="bar" x="${labelWidth}" y="${y - 6}" width="${n(Math.max(1, x - labelWidth))}" height="12" rx="2"/>`;
    return cell.range === undefined ? bar : bar + line;
  }
  const end = kind === "span" ? `<circle class="end" cx="${n(scale(to))}" cy="${y}" r="3"/>` : "";
  return `${line}${end}<circle class="dot" cx="${n(x)}" cy="${y}" r="4"/>`;
}

/**
 * A plot as SVG: a line per contender, with its name, its mark and its figures.
 * @param domain smallest and largest value to draw; the plot's own when there is none
 */
export function plot(kind: PlotKind, rows: readonly PlotRow[], domain?: readonly [number, number]): string {
  const cells = rows.map(({ cell }) => cell);
  const shown = domain ?? (kind === "ratio" ? ratioDomain(cells) : ([0, Math.max(0, ...numbersOf(cells))] as const));
  const scale = scaleOf(kind, shown);
  const height = top + rows.length * rowHeight + (kind === "ratio" ? 16 : 2);
  const lines = rows.map(({ label, cell }, index) => {
    const y = top + index * rowHeight + rowHeight / 2;
    const ours = label.startsWith("keelson") ? "ours" : "other";
    const name = `<text class="label" x="${labelWidth - 8}" y="${y + 4}">${escapeHtml(label)}</text>`;
    const text = `<text class="value" x="${width}" y="${y + 4}">${escapeHtml(shortText(cell))}</text>`;
    return `<g class="${ours}">${name}${mark(kind, cell, scale, y)}${text}</g>`;
  });
  const grid = kind === "ratio" ? ratioGrid(scale, shown, height) : "";
  const said = rows.map(({ label, cell }) => `${label} ${shortText(cell)}`).join(", ");
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(said)}">${grid}${lines.join("")}</svg>`;
}
