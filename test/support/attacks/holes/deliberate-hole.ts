import type { AnyEntity } from "../../../../src/index.ts";
import type { Hole } from "../attacked-app.ts";
import type { Attack } from "../probe.ts";

/** A hole, and who has to find it. */
export interface DeliberateHole extends Hole {
  readonly attack: Attack;
  /** What the finding says, so that it is this hole that was found. */
  readonly says: RegExp;
}

/** The entities of the app with others in place of those of the same names. */
export function replaced(...others: readonly { build(): AnyEntity }[]) {
  const built = new Map(others.map((other) => [other.build().name, other.build()]));
  return (entities: readonly AnyEntity[]): readonly AnyEntity[] =>
    entities.map((entity) => built.get(entity.name) ?? entity);
}

/** A definition with something else said about it. */
export function changed(name: string, change: Partial<AnyEntity>) {
  return (entities: readonly AnyEntity[]): readonly AnyEntity[] =>
    entities.map((entity) => (entity.name === name ? { ...entity, ...change } : entity));
}
