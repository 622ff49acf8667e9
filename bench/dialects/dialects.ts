import type { Dialect } from "./dialect.ts";
import { feathers } from "./feathers.ts";
import { payload } from "./payload.ts";
import { remult } from "./remult.ts";
import { zenstack } from "./zenstack.ts";

/** The dialects that contenders speak besides Keelson's, by their names. */
export const dialects = { feathers, payload, remult, zenstack } as const satisfies Readonly<Record<string, Dialect>>;

/** The name of a dialect. */
export type DialectId = keyof typeof dialects;

/** The dialect with a name, or Keelson's own, which needs none. */
export function dialectOf(id: DialectId | undefined): Dialect | undefined {
  return id === undefined ? undefined : dialects[id];
}
