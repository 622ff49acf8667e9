import { costOfEntities, type Diagnostics, measureTypes } from "./measure-types.ts";

// What entities cost the compiler. Counts do not depend on the machine, times and memory do.

const COUNTS = [25, 50, 100];

function line(label: string, { types, instantiations, checkTime, memory }: Diagnostics): string {
  const figures = [instantiations, types].map((value) => value.toLocaleString("en").padStart(14));
  return `${label.padEnd(14)}${figures.join("")}${`${checkTime.toFixed(2)} s`.padStart(12)}${`${memory} MB`.padStart(10)}`;
}

const empty = measureTypes(0);
process.stdout.write(
  `${"".padEnd(14)}${"instantiations".padStart(14)}${"types".padStart(14)}${"check".padStart(12)}${"memory".padStart(10)}\n`,
);
process.stdout.write(`${line("Keelson alone", empty)}\n`);
for (const count of COUNTS) process.stdout.write(`${line(`+ ${count} entities`, costOfEntities(count, empty))}\n`);
const client = { client: true };
process.stdout.write(`${line("+ clients, 100", costOfEntities(100, measureTypes(0, client), client))}\n`);
