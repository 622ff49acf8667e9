/**
 * Rows of the first table below a heading of a page, without its header row; cells are trimmed.
 * @param heading as on the page, without `#`
 */
export function tableBelow(page: string, heading: string): string[][] {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (start === -1) throw new Error(`The page has no heading "${heading}"`);
  const rows: string[][] = [];
  for (const line of lines.slice(start + 1)) {
    if (line.startsWith("#")) break;
    if (line.startsWith("|")) rows.push(cellsOf(line));
    else if (rows.length > 0) break;
  }
  return rows.slice(2);
}

function cellsOf(line: string): string[] {
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Names in back-ticks of a cell, without their arguments: `` `.min(n, message?)`, `.max()` `` are min and max. */
export function namesIn(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`\.?([\w$]+)[^`]*`/g)].map(([, name]) => name as string);
}

/** Names in back-ticks of one column of a table. */
export function columnOf(page: string, heading: string, index = 0): string[] {
  return tableBelow(page, heading).flatMap((cells) => namesIn(cells[index]));
}
