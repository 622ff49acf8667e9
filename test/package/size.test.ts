import { describe, expect, it } from "vitest";
import { codeLines } from "../support/code-lines.ts";
import { foldersIn, sourceFiles } from "../support/source-files.ts";

const typescript = (path: string): boolean => path.endsWith(".ts");
const linesIn = (folder: string): number =>
  sourceFiles(folder, typescript).reduce((total, file) => total + codeLines(file.text), 0);

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

  it("keeps the kernel under 1,500 lines of code", () => {
    expect(linesIn("src/kernel")).toBeGreaterThan(0);
    expect(linesIn("src/kernel")).toBeLessThan(1500);
  });

  it("keeps each adapter within 90 lines of code", () => {
    const adapters = foldersIn("src/adapters").map((name) => ({ name, lines: linesIn(`src/adapters/${name}`) }));
    expect(adapters).not.toEqual([]);
    expect(adapters.filter(({ lines }) => lines > 90)).toEqual([]);
  });
});
