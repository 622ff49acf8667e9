import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { costOfEntities, type Diagnostics, measureTypes } from "./measure-types.ts";

// What entities cost the compiler, compared with what is written in figures.json. Counts do not depend on the machine,
// times and memory do. `npm run bench:types -- --write` keeps the figures for the next run.

/** How many entities, without and with a client over HTTP. */
const CASES = [
  { count: 10, client: false },
  { count: 100, client: false },
  { count: 300, client: false },
  { count: 100, client: true },
];
const FILE = fileURLToPath(new URL("figures.json", import.meta.url));

const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });
const before = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, Partial<Diagnostics>>>;

function row(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

function figures(
  name: string,
  count: number,
  { types, instantiations, checkTime, totalTime, memory }: Diagnostics,
): void {
  const then = before[name]?.instantiations;
  const change = then === undefined ? "–" : `${((instantiations / then - 1) * 100).toFixed(1)} %`;
  const each = count === 0 ? "–" : Math.round(instantiations / count).toLocaleString("en");
  const [all, made] = [instantiations, types].map((value) => value.toLocaleString("en")) as [string, string];
  row([name, all, change, each, made, `${checkTime.toFixed(2)} s`, `${totalTime.toFixed(2)} s`, `${memory} MB`]);
}

row(["", "instantiations", "than before", "per entity", "types", "check", "all of tsc", "memory"]);
row(Array<string>(8).fill("---"));
const empty = [measureTypes(0), measureTypes(0, { client: true })] as const;
const found: Record<string, Diagnostics> = { "Keelson alone": empty[0] };
figures("Keelson alone", 0, empty[0]);
for (const { count, client } of CASES) {
  const name = `+ ${count} entities${client ? ", each in a client" : ""}`;
  const cost = costOfEntities(count, empty[client ? 1 : 0], { client });
  found[name] = cost;
  figures(name, count, cost);
}
if (values.write) writeFileSync(FILE, `${JSON.stringify(found, undefined, 2)}\n`);
