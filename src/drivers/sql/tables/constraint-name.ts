import { createHash } from "node:crypto";
import type { AnyEntity } from "../../../entity/index.ts";

/** PostgreSQL's limit on names; Prisma shortens those of its constraints, keeping the suffix. */
export const MAX_NAME = 63;

/** The name that Prisma gives to a constraint. */
export function constraintName(entity: AnyEntity, columns: readonly string[], suffix: string): string {
  return shortName([entity.name, ...columns].join("_"), suffix);
}

/** A name of which the end stays when it is too long. */
export function shortName(start: string, suffix: string): string {
  return `${start.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}

/** A name that fits, and is still another one than those that begin like it. */
export function distinctName(name: string, length: number): string {
  if (name.length <= length) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, length - hash.length - 1)}_${hash}`;
}
