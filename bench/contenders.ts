import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DialectId } from "./dialects/dialects.ts";
import type { WorkloadId } from "./workloads.ts";

/** One server under test. */
export interface Contender {
  /** Its name in the tables, and its file in `contenders/`; of a peer, its folder in `peers/`. */
  readonly id: string;
  /** What it is, in a few words. */
  readonly note: string;
  /** Workloads it cannot answer, with the reason. */
  readonly lacks?: { readonly [W in WorkloadId]?: string };
  /** How it asks and answers; absent for those with Keelson's routes. */
  readonly dialect?: DialectId;
}

const noExport = "has no export of its own";
const noRemote = "has no relations to records of another service";

/** Libraries that stand for themselves, installed in `peers/` only. */
export const peers: readonly Contender[] = [
  {
    id: "feathers",
    note: "Feathers 5, on Koa with Knex, as its CLI sets it up",
    dialect: "feathers",
    lacks: { export: noExport, remote: noRemote },
  },
  {
    id: "remult",
    note: "Remult 3, mounted in Express 5, with a pool of 40",
    dialect: "remult",
    lacks: { export: noExport, remote: noRemote },
  },
  {
    id: "zenstack",
    note: "ZenStack 3 with its policy plugin, mounted in Hono",
    dialect: "zenstack",
    lacks: { export: noExport, remote: noRemote },
  },
  {
    id: "payload",
    note: "Payload 3 without Next, on @hono/node-server, with a pool of 40",
    dialect: "payload",
    lacks: { export: noExport, remote: noRemote },
  },
];

/** Everybody who takes part. A file in `contenders/` listens on `127.0.0.1` at `process.env.PORT`; that is all it has to do. */
export const contenders: readonly Contender[] = [
  { id: "node-pg", note: "node:http and pg by hand, as it comes" },
  { id: "node-pg-text", note: "the same, with timestamps read as texts: the limit" },
  { id: "hono-pg", note: "Hono and pg by hand" },
  { id: "hono-prisma", note: "Hono and Prisma 7 by hand" },
  { id: "express-prisma", note: "Express 5 and Prisma 7 by hand" },
  { id: "keelson-node", note: "Keelson, postgres(url), on node:http" },
  { id: "keelson-hono", note: "Keelson, postgres(url), mounted in Hono" },
  { id: "keelson-express", note: "Keelson, postgres(url), mounted in Express 5" },
  { id: "keelson-client", note: "Keelson, prisma(client), on node:http" },
  ...peers,
];

/** Whether the peers can take part. */
export const peersAreInstalled = existsSync(fileURLToPath(new URL("peers/node_modules/", import.meta.url)));

/** How to let the peers take part. */
export const peersHint = "Peers do not take part: npm ci --prefix bench/peers --ignore-scripts installs them.";

/** Keelson as an earlier commit had it, on node:http unless `--before-on` names another host; takes part with `--before`. */
export const beforeId = "keelson-before";

/** Who the ratios are taken against, those of them that take part. */
export const references = ["hono-prisma", "node-pg", beforeId] as const;
