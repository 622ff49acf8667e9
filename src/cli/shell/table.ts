/** Rows under headings. */
export interface Table {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table in columns of equal width, without spaces at the ends of lines. */
export function toTableText({ headings, rows }: Table, styleHeading: (text: string) => string): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join("  ")
      .trimEnd();
  return [styleHeading(line(headings)), ...rows.map(line)].join("\n");
}
