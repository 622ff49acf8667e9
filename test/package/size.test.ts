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

  // What counts as the microkernel, and why imports do not: docs/adr/0002.
  const parts = ["container", "hooks", "routes", "operations", "plugin"].map((part) => `src/kernel/${part}`);
  const kernelFiles = sourceFiles("src/kernel", typescript);
  const linesOf = (files: typeof kernelFiles): number =>
    files.reduce((total, { text }) => total + codeLines(withoutImports(text)), 0);

  it("keeps the five parts of the kernel under 2,420 lines of code", () => {
    const core = kernelFiles.filter(
      ({ path }) => path === "src/kernel/kernel.ts" || parts.some((part) => path.startsWith(`${part}/`)),
    );
    expect(core.length).toBeGreaterThan(parts.length);
    expect(linesOf(core)).toBeLessThan(2_420);
  });

  it("keeps all of the kernel under 6,050 lines of code", () => {
    expect(linesOf(kernelFiles)).toBeLessThan(6_050);
  });

  it("keeps each file of an adapter within 90 lines of code: adapters translate, the kernel works", () => {
    const files = sourceFiles("src/adapters", typescript).map(({ path, text }) => ({ path, lines: codeLines(text) }));
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter(({ lines }) => lines > 90)).toEqual([]);
  });
});
