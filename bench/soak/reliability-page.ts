import { markdownTable } from "../markdown-table.ts";
import { type SoakResults, soakTable } from "./soak-results.ts";

/** What the long run of the fuzzing tests writes; `npm run fuzz`. */
export interface FuzzReport {
  readonly seed: number;
  readonly tried: number;
  readonly survived: number;
  readonly classes: readonly {
    readonly database: string;
    readonly inputs: string;
    readonly tried: number;
    readonly survived: number;
  }[];
}

/** Figures for `docs/reliability.md`. */
export interface ReliabilityFigures {
  readonly soak: SoakResults;
  /** Absent before the first long run. */
  readonly fuzz?: FuzzReport | undefined;
}

const whole = (value: number): string => value.toLocaleString("en");
const NOT_YET = "no run yet";

function summary({ soak, fuzz }: ReliabilityFigures): string {
  const runs = Object.values(soak.runs);
  const sum = (figure: (run: (typeof runs)[number]) => number): string =>
    runs.length === 0 ? NOT_YET : whole(runs.reduce((total, run) => total + figure(run), 0));
  return markdownTable(
    ["", "figure", "command"],
    [
      ["requests under load, of all kinds", sum(({ requests }) => requests), "`npm run soak`"],
      ["answers of 5xx among them", sum(({ serverErrors }) => serverErrors), "`npm run soak`"],
      ["answers that were not what they had to be", sum(({ wrong }) => wrong), "`npm run soak`"],
      ["writes that were acknowledged", sum(({ acknowledgedWrites }) => acknowledgedWrites), "`npm run soak`"],
      ["of them lost", sum(({ lostWrites }) => lostWrites), "`npm run soak`"],
      ["hostile inputs, as bytes on the wire", fuzz === undefined ? NOT_YET : whole(fuzz.tried), "`npm run fuzz`"],
      ["of them survived", fuzz === undefined ? NOT_YET : whole(fuzz.survived), "`npm run fuzz`"],
    ],
  );
}

function soakRun({ date, node, runs }: SoakResults): string {
  const results = Object.values(runs);
  if (results.length === 0) return `There is ${NOT_YET}.`;
  const lanes = [...new Set(results.map((run) => run.lanes))].join(" and ");
  const commits = [...new Set(results.map(({ commit }) => commit))].join(" and ");
  return `${date}, commit ${commits}, Node ${node.slice(1)}, ${lanes} requests under way at once.\n\n${soakTable(results)}`;
}

function fuzzRun(fuzz: FuzzReport | undefined): string {
  if (fuzz === undefined) return `There is ${NOT_YET}.`;
  const rows = fuzz.classes.map(({ inputs, database, tried, survived }) => [
    inputs,
    database,
    whole(tried),
    whole(survived),
  ]);
  return markdownTable(["inputs", "database", "tried", "survived"], rows);
}

/** What figures put into `docs/reliability.md`, by the name of its place there. */
export function reliabilityBlocks(figures: ReliabilityFigures): Readonly<Record<string, string>> {
  return { summary: summary(figures), soak: soakRun(figures.soak), fuzz: fuzzRun(figures.fuzz) };
}

const place = /<!-- reliability:([a-z-]+) -->\n[\s\S]*?\n?<!-- \/reliability -->/g;

/** A page with figures at the places that are marked `<!-- reliability:name -->` … `<!-- /reliability -->`. */
export function fillReliabilityPage(page: string, figures: ReliabilityFigures): string {
  const blocks = reliabilityBlocks(figures);
  return page.replace(place, (_, name: string) => {
    const block = blocks[name];
    if (block === undefined)
      throw new Error(`docs/reliability.md asks for "${name}"; there are ${Object.keys(blocks)}`);
    return `<!-- reliability:${name} -->\n\n${block}\n\n<!-- /reliability -->`;
  });
}
