import type { WorkloadId } from "./workloads.ts";

/** One server under test. */
export interface Contender {
  /** Its name in the tables, and its file in `contenders/`. */
  readonly id: string;
  /** What it is, in a few words. */
  readonly note: string;
  /** Workloads it cannot answer, with the reason. */
  readonly lacks?: { readonly [W in WorkloadId]?: string };
}

/** Everybody who takes part. A file in `contenders/` listens on `127.0.0.1` at `process.env.PORT`; that is all it has to do. */
export const contenders: readonly Contender[] = [
  { id: "node-pg", note: "node:http and pg by hand: the limit" },
  { id: "hono-prisma", note: "Hono and Prisma 7 by hand" },
  { id: "express-prisma", note: "Express 5 and Prisma 7 by hand" },
  { id: "keelson-node", note: "Keelson, prisma(client), on node:http" },
  { id: "keelson-direct", note: "Keelson, postgres(url), on node:http" },
  { id: "keelson-express", note: "Keelson, prisma(client), mounted in Express 5" },
];

/** Keelson on node:http as an earlier commit had it; takes part when `--before` names one. */
export const beforeId = "keelson-before";

/** Who the ratios are taken against, those of them that take part. */
export const references = ["hono-prisma", "node-pg", beforeId] as const;
