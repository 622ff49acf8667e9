import { type AnyEntity, isKeelsonError } from "../../../entity/index.ts";
import {
  type Decision,
  digestOf,
  type OperationScope,
  type RecordUse,
  type ShownRecords,
} from "../../../gate/index.ts";

/** Notes the rights of a caller on what was noted since the last call. Earlier ones stay as they were. */
export async function noteRights(scope: OperationScope, notes: ShownRecords): Promise<void> {
  for (const [name, find] of rightsOn(scope, notes))
    if (!notes.rights.has(name)) notes.rights.set(name, digestOf(await find()));
}

/** Whether a caller has the rights that were noted; false if some were not noted. */
export async function hasNotedRights(scope: OperationScope, notes: ShownRecords): Promise<boolean> {
  for (const [name, find] of rightsOn(scope, notes))
    if (notes.rights.get(name) !== digestOf(await find())) return false;
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
