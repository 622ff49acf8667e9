/** What spreadsheets take for a formula, wide characters included, or for the quote that keeps a text from being one. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const GUARDED = /^'+[=+\-@\t\r\n＝＋－＠]/;

/**
 * A text as a cell of CSV: with a `'` before what a spreadsheet would run as a formula (http.md, "Prebuilt actions"). A
 * text that looks guarded already gets one more, so that taking one away always gives the text back.
 */
export function toTextCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text of a cell that `toTextCell` made, or that somebody wrote without knowing about guards. */
export function fromTextCell(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}
