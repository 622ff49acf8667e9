import type { OperationInput, OperationScope, ShownRecords } from "../../gate/index.ts";
import { readableOf } from "./stored-answer.ts";

/** All records, ids, or how many there are. */
type Countable = "all" | readonly string[] | number | undefined;

/** The entity of a count, and its access and rules unless they are those for reading. */
interface View extends Pick<OperationInput, "access" | "rules"> {
  readonly name: string;
}

/** The records that counts were about and that the caller could read when they were first counted. */
export class CountableRecords {
  readonly #before = new Map<string, { readonly view: View; readonly records: Promise<Countable> }>();

  async note(scope: OperationScope, { counted, uses }: ShownRecords): Promise<void> {
    const views: readonly View[] = [
      ...Array.from(counted, ({ name }) => ({ name })),
      ...uses.filter(({ counts }) => counts).map(({ entity: { name }, access, rules }) => ({ name, access, rules })),
    ];
    for (const view of views) {
      const key = JSON.stringify(view);
      if (!this.#before.has(key)) this.#before.set(key, { view, records: countableOf(scope, view) });
    }
    await Promise.all(Array.from(this.#before.values(), ({ records }) => records));
  }

  /** Whether the caller can no longer read some of them. */
  async areLost(scope: OperationScope): Promise<boolean> {
    for (const { view, records } of this.#before.values())
      if (!includes(await countableOf(scope, view), await records)) return true;
    return false;
  }
}

async function countableOf(scope: OperationScope, { name, ...by }: View): Promise<Countable> {
  if (by.access === undefined) {
    const { allowed, predicate, guard } = await scope.access.readDecision(name);
    if (allowed && predicate === undefined && guard === undefined) return "all";
  }
  return (await readableOf(scope, name, undefined, by)) as Countable;
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
