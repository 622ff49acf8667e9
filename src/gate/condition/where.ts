import type { AnyEntity } from "../../entity/index.ts";

/** A stored record: one property per column. Absent values are `null`, moments are `Date` unless texts were asked for. */
export type Row = Record<string, unknown>;

/**
 * Conditions on records, the one shape used by drivers, rules, services and clients:
 * `{ published: true, views: { gte: 3 }, author: { name: { like: "ann" } }, OR: [...], AND: [...], NOT: {...} }`.
 * Operators: `eq ne gt gte lt lte in nin like starts ends null`; an array means `in`, `null` means “is null”. Logic is
 * two-valued: a null is not equal to 3, so `{ views: { ne: 3 } }` and `NOT` match it. `like`, `starts` and `ends` ignore
 * case (SQLite: of A to Z only) and take `%` and `_` literally. A to-many relation matches when some related record does.
 */
export interface Where {
  readonly [name: string]: unknown;
}

/** An entity by name or by definition. */
export type EntityRef = string | AnyEntity | { build(): AnyEntity };
