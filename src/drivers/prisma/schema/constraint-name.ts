import type { AnyEntity } from "../../../entity/index.ts";

/** PostgreSQL's limit on names; Prisma shortens those of its constraints, keeping the suffix. */
const MAX_NAME = 63;

/** The name that Prisma gives to a constraint. */
export function constraintName(entity: AnyEntity, columns: readonly string[], suffix: string): string {
  return shortName([entity.name, ...columns].join("_"), suffix);
}

/** A name of which the end stays when it is too long. */
export function shortName(start: string, suffix: string): string {
  return `${start.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}
