import type { AnyEntity } from "../../entity/index.ts";
import type { OperationScope } from "../../gate/index.ts";
import { readableOf } from "./stored-answer.ts";

/** All records, ids, or how many there are. */
type Countable = "all" | readonly string[] | number | undefined;

/** The records of counted entities that the caller could read when they were first counted. */
export class CountableRecords {
  readonly #before = new Map<AnyEntity, Promise<Countable>>();

  async note(scope: OperationScope, counted: Iterable<AnyEntity>): Promise<void> {
    for (const entity of counted) if (!this.#before.has(entity)) this.#before.set(entity, countableOf(scope, entity));
    await Promise.all(this.#before.values());
  }

  /** Whether the caller can no longer read some of them. */
  async areLost(scope: OperationScope): Promise<boolean> {
    for (const [entity, before] of this.#before)
      if (!includes(await countableOf(scope, entity), await before)) return true;
    return false;
  }
}

async function countableOf(scope: OperationScope, { name }: AnyEntity): Promise<Countable> {
  const { allowed, predicate, guard } = await scope.access.readDecision(name);
  if (allowed && predicate === undefined && guard === undefined) return "all";
  return (await readableOf(scope, name)) as Countable;
}

/** Above the limit of ids, only numbers can be compared. */
function includes(now: Countable = [], before: Countable = []): boolean {
  if (now === "all" || before === "all") return now === "all";
  if (Array.isArray(now) && Array.isArray(before)) {
    const ids = new Set(now);
    return before.every((id) => ids.has(id));
  }
  return sizeOf(now) >= sizeOf(before);
}

function sizeOf(one: readonly string[] | number): number {
  return typeof one === "number" ? one : one.length;
}
