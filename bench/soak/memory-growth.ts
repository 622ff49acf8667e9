import { median } from "../statistics.ts";
import type { ProcessSample } from "./serve-soak.ts";

/** What the process had after so many requests. */
export interface SoakSample extends ProcessSample {
  readonly requests: number;
}

/** How memory changed from the end of the warm-up to the end. */
export interface Growth {
  /** Median of the first quarter of the samples. */
  readonly firstBytes: number;
  /** Median of the last quarter. */
  readonly lastBytes: number;
  /** Of the straight line that is closest to all samples. */
  readonly bytesPerRequest: number;
}

function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread;
}

export function growthOf(samples: readonly SoakSample[], bytes: (sample: SoakSample) => number): Growth {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return {
    firstBytes: median(samples.slice(0, quarter).map(bytes)),
    lastBytes: median(samples.slice(-quarter).map(bytes)),
    bytesPerRequest: slope(samples.map((sample) => [sample.requests, bytes(sample)])),
  };
}
