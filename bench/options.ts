import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { beforeId, type Contender, contenders, peers, peersAreInstalled } from "./contenders.ts";
import { type WorkloadId, workloadIds } from "./workloads.ts";

/** How a run is done. */
export interface BenchOptions {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly WorkloadId[];
  readonly rounds: number;
  /** Measured seconds per contender, workload and round. */
  readonly seconds: number;
  /** Unmeasured seconds before them. */
  readonly warmUpSeconds: number;
  /** The same in the first round, where code is not compiled yet. */
  readonly firstWarmUpSeconds: number;
  readonly connections: number;
  /** How often each server is started to see how long that takes. */
  readonly starts: number;
  /** A commit whose Keelson takes part as `keelson-before`. */
  readonly before: string | undefined;
  /** The contender whose file of that commit is used. */
  readonly beforeOn: string;
  /** Whether this is a whole run, whose figures may replace the published ones. */
  readonly complete: boolean;
}

/** The text of `--help`. */
export const usage = `Usage: npm run bench -- [options]

  --quick               one short round: shows that everything works, its figures mean nothing
  --contenders a,b      only these (${contenders.map((one) => one.id).join(", ")})
  --workloads a,b       only these (${workloadIds.join(", ")})
  --rounds n            rounds, also BENCH_ROUNDS (3)
  --seconds n           measured seconds per contender, workload and round, also BENCH_SECONDS (2)
  --starts n            starts of each server (5)
  --before commit       Keelson of that commit takes part too, as ${beforeId}
  --before-on name      on the host of this contender (keelson-node)
  --connections n       open connections (32)

DATABASE_URL names the PostgreSQL server (postgres://root@127.0.0.1:5432/); the database keelson_bench on it is ours.
`;

function pick<T>(list: string | undefined, all: readonly T[], nameOf: (item: T) => string, what: string): T[] {
  if (list === undefined) return [...all];
  return list.split(",").map((name) => {
    const found = all.find((item) => nameOf(item) === name.trim());
    if (found === undefined) throw new Error(`unknown ${what} "${name}"; there are ${all.map(nameOf).join(", ")}`);
    return found;
  });
}

function positive(text: string | undefined, otherwise: number, name: string): number {
  if (text === undefined || text === "") return otherwise;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${name} has to be a number above 0, not "${text}"`);
  return value;
}

/** Peers take part where they are installed. */
function whoIsHere(): string | undefined {
  if (peersAreInstalled) return undefined;
  const own = contenders.filter((contender) => !peers.includes(contender));
  return own.map(({ id }) => id).join(",");
}

/** Keelson of another commit, without the workloads that its benchmark did not have. */
function pastContender(commit: string, on: string): Contender {
  const text = execFileSync("git", ["show", `${commit}:bench/workloads.ts`], { encoding: "utf8" });
  const missing = workloadIds.filter((id) => !text.includes(`"${id}"`));
  const lacks = Object.fromEntries(missing.map((id) => [id, "not in the benchmark of that commit"]));
  return { id: beforeId, note: `${on} of commit ${commit}`, lacks };
}

/** The options of this run from the command line and the environment, or `undefined` if help was asked for. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      contenders: { type: "string" },
      workloads: { type: "string" },
      before: { type: "string" },
      "before-on": { type: "string", default: "keelson-node" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      starts: { type: "string" },
      connections: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const { before, "before-on": beforeOn } = values;
  const past = before === undefined ? [] : [pastContender(before, beforeOn)];
  return {
    before,
    beforeOn,
    contenders: [...pick(values.contenders ?? whoIsHere(), contenders, (one) => one.id, "contender"), ...past],
    workloads: pick(values.workloads, workloadIds, String, "workload"),
    rounds: Math.ceil(positive(values.rounds ?? process.env.BENCH_ROUNDS, values.quick ? 1 : 3, "rounds")),
    seconds: positive(values.seconds ?? process.env.BENCH_SECONDS, values.quick ? 0.5 : 2, "seconds"),
    warmUpSeconds: values.quick ? 0.2 : 0.6,
    firstWarmUpSeconds: values.quick ? 0.4 : 3,
    starts: Math.ceil(positive(values.starts, values.quick ? 1 : 5, "starts")),
    connections: Math.ceil(positive(values.connections, 32, "connections")),
    complete:
      !values.quick &&
      before === undefined &&
      values.contenders === undefined &&
      values.workloads === undefined &&
      peersAreInstalled,
  };
}
