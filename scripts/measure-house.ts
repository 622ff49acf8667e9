/**
 * `npm run measure:house`: the size and the shape of the source, as tables. Calls per
 * request are counted by a probe at the beginning of each function of the compiled source: a call counts where it enters
 * another file than the one before.
 */
import { dirname, join } from "node:path";
import ts from "typescript";
import { codeLines } from "../test/support/code-lines.ts";
import { folderCircles } from "../test/support/folder-circles.ts";
import { repositoryRoot, sourceFiles } from "../test/support/source-files.ts";
import { walk } from "../test/support/ways.ts";
import { entryPoints } from "./api-reference/reference-pages.ts";

const files = sourceFiles("src").filter(({ path }) => path.endsWith(".ts"));
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** Files and lines of each room. */
function rooms(): string {
  const lines = new Map(files.map(({ path, text }) => [path, codeLines(text)]));
  const allLines = new Map(files.map(({ path, text }) => [path, text.split("\n").length - 1]));
  const names = [...new Set(files.map(({ path }) => path.split("/").slice(0, 2).join("/")))].filter(
    (name) => !name.endsWith(".ts"),
  );
  const row = (name: string, isIn: (path: string) => boolean): (string | number)[] => {
    const own = files.map(({ path }) => path).filter(isIn);
    const countsOf = (of: ReadonlyMap<string, number>): number[] => own.map((path) => of.get(path) ?? 0);
    const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
    const counts = countsOf(allLines);
    return [name, own.length, sum(counts), sum(countsOf(lines)), median(counts), Math.max(...counts)];
  };
  const all = row("src", () => true);
  return table(
    ["room", "files", "lines", "of code", "median of a file", "longest"],
    [all, ...names.map((name) => row(name, (path) => path.startsWith(`${name}/`)))],
  );
}

/** Names that several files have, and folders with many files. */
function names(): string {
  const counts = new Map<string, number>();
  const folders = new Map<string, number>();
  for (const { path } of files) {
    const name = path.split("/").at(-1) as string;
    if (name !== "index.ts") counts.set(name, (counts.get(name) ?? 0) + 1);
    folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  }
  return table(
    ["what", "count"],
    [
      ["file names that are used twice", [...counts.values()].filter((count) => count > 1).length],
      ["folders with more than twelve files", [...folders.values()].filter((count) => count > 12).length],
    ],
  );
}

/** Members of the types that people who extend Keelson read first, and exported names of each door. */
function surfaces(): string {
  const { exports: doors } = JSON.parse(ts.sys.readFile(join(repositoryRoot, "package.json")) ?? "{}") as {
    exports: Record<string, unknown>;
  };
  const entries = Object.keys(doors)
    .filter((door) => door !== "./package.json")
    .map((door) => [door, doorFile(door)] as const);
  const config = ts.readConfigFile(join(repositoryRoot, "tsconfig.json"), ts.sys.readFile).config as object;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repositoryRoot);
  const program = ts.createProgram(
    entries.map(([, file]) => file),
    { ...options, noEmit: true },
  );
  const checker = program.getTypeChecker();
  const exportsOf = (file: string): readonly ts.Symbol[] => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    return module === undefined ? [] : checker.getExportsOfModule(module);
  };
  const all = entries.flatMap(([, file]) => exportsOf(file));
  const members = (name: string): number => {
    const found = all.find((symbol) => symbol.getName() === name);
    if (found === undefined) return 0;
    const target = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
    return checker.getDeclaredTypeOfSymbol(target).getProperties().length;
  };
  const types = ["Operation", "OperationScope", "DriverPort", "HookOptions"];
  return table(
    ["what", "count"],
    [
      ...types.map((name) => [`members of ${name}`, members(name)]),
      ...entries.map(([door, file]) => [`names exported from ${door}`, exportsOf(file).length]),
      ["names exported in all", new Set(all.map((symbol) => symbol.getName())).size],
    ],
  );
}

function doorFile(door: string): string {
  const file = entryPoints[`keelson${door.slice(1)}`];
  if (file === undefined) throw new Error(`no file for the door ${door}`);
  return join(repositoryRoot, file);
}

/** Files and calls of a request that was made before, when everything is compiled and cached. */
async function requests(): Promise<string> {
  const ways = await walk();
  const rows = Object.entries(ways).map(([name, entered]) => {
    const order = entered.map(({ file }) => file);
    const calls = order.filter((file, index) => file !== order[index - 1]).length;
    return [name, new Set(order).size, calls];
  });
  return table(["request", "files", "calls between files"], rows);
}

const circles = folderCircles(files);
const sections = [
  rooms(),
  names(),
  surfaces(),
  table(
    ["folders that import each other in a circle, types included", "count"],
    [["groups", circles.length], ...circles.map((group) => [group.join(", "), group.length])],
  ),
  await requests(),
];
process.stdout.write(`${sections.join("\n\n")}\n`);
process.exit(0);
