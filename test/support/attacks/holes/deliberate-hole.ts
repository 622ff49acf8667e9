import type { AnyEntity } from "../../../../src/index.ts";
import type { Hole } from "../attacked-app.ts";
import type { Attack } from "../probe.ts";

/** A defect, and the attack that must find it. */
export interface DeliberateHole extends Hole {
  readonly attack: Attack;
  /** Text of the expected finding, which proves that this defect was found. */
  readonly says: RegExp;
}

/** The app's entities, some replaced by others of the same name. */
export function replaced(...others: readonly { build(): AnyEntity }[]) {
  const built = new Map(others.map((other) => [other.build().name, other.build()]));
  return (entities: readonly AnyEntity[]): readonly AnyEntity[] =>
    entities.map((entity) => built.get(entity.name) ?? entity);
}

/** A definition with some properties replaced. */
export function changed(name: string, change: Partial<AnyEntity>) {
  return (entities: readonly AnyEntity[]): readonly AnyEntity[] =>
    entities.map((entity) => (entity.name === name ? { ...entity, ...change } : entity));
}
