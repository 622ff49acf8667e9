import type { Contender } from "./contenders.ts";
import type { Sample } from "./measure.ts";
import type { StartFigures } from "./measure-starts.ts";
import type { WorkloadId } from "./workloads.ts";

/** What a server's process needed to start, and its memory before and after the whole load. */
export interface ProcessFigures extends StartFigures {
  readonly rssAfterMb: number;
}

/** How and where a run was done. */
export interface Settings {
  readonly date: string;
  /** What was measured, as `git describe` names it. */
  readonly commit: string;
  readonly complete: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** The same in the first round. */
  readonly firstWarmUpSeconds: number;
  readonly connections: number;
  readonly starts: number;
  readonly pool: number;
  readonly pinned: boolean;
  readonly node: string;
  readonly postgres: string;
  readonly cpu: string;
  readonly cores: number;
  readonly packages: Readonly<Record<string, string>>;
}

/** Everything a run has found; what `results.json` holds. */
export interface Results {
  readonly settings: Settings;
  readonly contenders: readonly Contender[];
  readonly workloads: readonly WorkloadId[];
  readonly processes: readonly ProcessFigures[];
  readonly samples: readonly Sample[];
  /** Those of a pass with one connection, of the two contenders that a goal compares by it. */
  readonly oneConnection: readonly Sample[];
}
