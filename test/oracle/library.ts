/** The library under test: this checkout's, or that of an earlier commit (`--against`). */
const source = process.env.ORACLE_SOURCE;
type Library = typeof import("keelson") &
  typeof import("keelson/audit") &
  typeof import("keelson/idempotency") &
  typeof import("keelson/node") &
  typeof import("keelson/openapi");

/** Entry points besides the root, as files of `src`. */
const DOORS = ["plugins/audit", "plugins/idempotency", "adapters/node", "plugins/openapi"];

const root = source ?? new URL("../../src/index.ts", import.meta.url).href;
const addresses = [...DOORS.map((folder) => new URL(`${folder}/index.ts`, root).href), root];
const doors = await Promise.all(addresses.map((address) => import(/* @vite-ignore */ address)));
export const library = Object.assign({}, ...doors) as Library;
