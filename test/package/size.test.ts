import { describe, expect, it } from "vitest";
import { codeLines, withoutImports } from "../support/code-lines.ts";
import { sourceFiles } from "../support/source-files.ts";

const typescript = (path: string): boolean => path.endsWith(".ts");
describe("size", () => {
  it("counts lines that are neither blank nor only comment", () => {
    const text = [
      "/** doc */",
      "const a = 1; // why",
      "",
      "  // why",
      "/*",
      " * long",
      " */ const b = 2;",
      'const c = "// no comment"; /* a */',
      "/* a */ /* b */",
      "const d = `",
      "/* text */`;",
    ];
    expect(codeLines(text.join("\n"))).toBe(5);
  });

  const linesIn = (folder: string): number =>
    sourceFiles(folder, typescript).reduce((total, { text }) => total + codeLines(withoutImports(text)), 0);

  // docs/adr/0052 explains why kernel and gate are two folders.
  it("keeps the kernel under 3,050 lines of code", () => {
    expect(linesIn("src/kernel")).toBeGreaterThan(1_000);
    expect(linesIn("src/kernel")).toBeLessThan(3_050);
  });

  it("keeps kernel and gate under 9,750 lines of code", () => {
    expect(linesIn("src/kernel") + linesIn("src/gate")).toBeLessThan(9_750);
  });

  it("keeps each file of an adapter within 90 lines of code", () => {
    const files = sourceFiles("src/adapters", typescript).map(({ path, text }) => ({ path, lines: codeLines(text) }));
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter(({ lines }) => lines > 90)).toEqual([]);
  });
});
