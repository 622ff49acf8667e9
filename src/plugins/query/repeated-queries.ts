import { LRUCache } from "lru-cache";
import type { AnyEntity } from "../../entity/index.ts";
import type { FieldMask, OperationQuery, OperationScope } from "../../gate/index.ts";

/** Limits of the cached query strings of one parser: user interfaces repeat the same lists. */
const MOST = 1_000;
const LONGEST = 512;

interface Kept {
  /** The mask that it was read for: other callers may not be able to use the same names. */
  readonly mask: FieldMask;
  readonly query: Readonly<OperationQuery>;
}

/**
 * Caches parsed query strings that are the same for all callers with the same mask: no field of their entity depends on
 * the caller, and they name no relation. Cached queries are frozen, and each caller gets a copy.
 */
export class RepeatedQueries {
  readonly #kept = new LRUCache<string, Kept>({ max: MOST });

  find(search: string, entity: AnyEntity, scope: OperationScope): OperationQuery | undefined {
    if (search.length > LONGEST) return undefined;
    const kept = this.#kept.get(keyOf(search, entity));
    return kept?.mask === scope.access.mask(entity) ? { ...kept.query } : undefined;
  }

  /** @returns the query */
  keep(search: string, entity: AnyEntity, scope: OperationScope, query: OperationQuery): OperationQuery {
    if (search.length > LONGEST || query.include !== undefined || scope.access.masked.includes(entity)) return query;
    if (hasMoments(query.where)) return query; // a Date cannot be frozen
    this.#kept.set(keyOf(search, entity), { mask: scope.access.mask(entity), query: frozen({ ...query }) });
    return query;
  }
}

function keyOf(search: string, { name }: AnyEntity): string {
  return `${name}?${search}`;
}

function hasMoments(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Date || Object.values(value).some(hasMoments);
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
