import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import type { Row } from "../condition/condition.ts";
import type { FindOptions } from "../statement/driver-port.ts";

/** Pairs of one manyToMany relation that a write has added and removed, by the ids at the other end. */
export interface PairChange {
  readonly relation: ResolvedRelation;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** A record that was written together with another one. */
export interface FurtherWrite {
  readonly entity: AnyEntity;
  readonly id: unknown;
  /** The record before the write; null for a new record. */
  readonly before: Row | null;
  /** @default none */
  readonly pairs?: readonly PairChange[] | undefined;
}

/** A record that a write locks. */
export interface LockedRecord {
  readonly entity: AnyEntity;
  readonly id: string;
  /** How it is locked; see `FindOptions`. @default true */
  readonly lock?: FindOptions["lock"];
}

/**
 * Decides again on a write.
 * @param writes the writes so far, which do not count, in their order
 * @param further those after the operation's own write
 */
export type AgainListener = (writes: readonly FurtherWrite[], further: readonly FurtherWrite[]) => Promise<void>;
