import { createHash } from "node:crypto";
import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import type { Decision } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { RecordUse, ShownRecords } from "../operation/shown-records.ts";

/** The JSON of values that conditions have. */
function plainly(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

/** Ignores dates in conditions: passing time alone does not count as a change of rights. */
export function timeless(this: unknown, key: string, value: unknown): unknown {
  return (this as Readonly<Record<string, unknown>>)[key] instanceof Date ? "datetime" : plainly(key, value);
}

export function digestOf(value: unknown, replacer = plainly): string {
  return createHash("sha256").update(JSON.stringify(value, replacer)).digest("base64url");
}

/** Notes the rights of a caller on what was noted since the last call. Earlier ones stay as they were. */
export async function noteRights(scope: OperationScope, notes: ShownRecords): Promise<void> {
  for (const [name, find] of rightsOn(scope, notes))
    if (!notes.rights.has(name)) notes.rights.set(name, digestOf(await find(), timeless));
}

/** Whether a caller has the rights that were noted; false if some were not noted. */
export async function hasNotedRights(scope: OperationScope, notes: ShownRecords): Promise<boolean> {
  for (const [name, find] of rightsOn(scope, notes))
    if (notes.rights.get(name) !== digestOf(await find(), timeless)) return false;
  return true;
}

/** The rights that notes depend on, by name. */
function rightsOn(scope: OperationScope, { ids, uses }: ShownRecords): ReadonlyMap<string, () => Promise<unknown>> {
  return new Map([
    ...Array.from(ids.keys(), (entity) => [entity.name, () => readRights(scope, entity)] as const),
    ...uses.map((use) => {
      const { entity, id, kind, access, rules } = use;
      return [JSON.stringify([entity.name, id, kind, access, rules]), () => useRights(scope, use)] as const;
    }),
  ]);
}

async function readRights(scope: OperationScope, entity: AnyEntity): Promise<unknown> {
  const decision = await scope.access.readDecision(entity);
  scope.access.mask(entity);
  await scope.access.maskReady(entity);
  const { readable, readablePerRow = new Map() } = scope.access.mask(entity);
  const perRow = [...readablePerRow].map(([name, { predicate }]) => [name, predicate]).sort();
  return [plain(decision), [...readable].sort(), perRow];
}

async function useRights(scope: OperationScope, { entity, id, kind = "list", access, rules }: RecordUse) {
  const asked = { kind: id === undefined ? kind : "read", entity, id, access, rules } as const;
  try {
    return plain(await scope.access.decide(asked));
  } catch (error) {
    if (isKeelsonError(error) && error.status < 500) return null;
    throw error;
  }
}

/** The parts of a decision that do not depend on a record. */
function plain({ allowed, forSome = false, predicate }: Decision): unknown {
  return [allowed, forSome, predicate];
}
