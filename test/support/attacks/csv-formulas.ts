import { parse } from "csv-parse/sync";
import type { Attack } from "./probe.ts";

const FORMULAS = [
  "=1+1",
  "+1+1",
  "-1+1",
  "@SUM(1+1)",
  "\t=1+1",
  "\r=1+1",
  "\n=1+1",
  "=cmd|' /C calc'!A0",
  '=HYPERLINK("http://attacker.example","x")',
  '","=1+1',
  '"=1+1',
  '\r\n=1+1,"',
  "＝1+1",
  "＋1+1",
  "－1+1",
  "＠SUM(1+1)",
];
/** Characters that spreadsheets read as the start of a formula (OWASP, CSV injection). */
const BEGINNINGS = /^[=+\-@\t\r\n＝＋－＠]/;

/** Text that a spreadsheet would evaluate. */
export const csvFormulas: Attack = {
  name: "formulas in exports",
  async run(probe) {
    for (const formula of FORMULAS) {
      const body = { subject: formula, body: formula, seal: formula };
      const made = await probe.send("ann", "POST", "/api/letters", { body });
      probe.control(made.status === 201, `the text ${JSON.stringify(formula)} was answered ${made.status}`);
    }
    for (const query of ["", "&select=subject", "&_sort=subject", "&select=seal,subject"]) {
      const { status, text, headers } = await probe.send("ann", "GET", `/api/letters/export?format=csv${query}`);
      probe.control(status === 200, `an export was answered ${status}`);
      const rows: string[][] = parse(text, { relaxColumnCount: true });
      probe.control(rows.length > FORMULAS.length, "an export has the letters");
      const cells = new Set(rows.flat().filter((cell) => BEGINNINGS.test(cell)));
      for (const cell of cells) probe.found(`a cell of export${query} begins like a formula: ${JSON.stringify(cell)}`);
      if (new Set(rows.map((row) => row.length)).size !== 1) probe.found(`export${query} has rows of several lengths`);
      if (!/^text\/csv; ?charset=utf-8/i.test(headers.get("content-type") ?? "")) probe.found("an export is no CSV");
      if (!/^attachment/.test(headers.get("content-disposition") ?? "")) probe.found("an export opens in the browser");
      if (headers.get("x-content-type-options") !== "nosniff") probe.found("an export may be taken for something else");
    }
  },
};
