import type { OperationScope, ShownRecords } from "../../gate/index.ts";
import { askableFields, foundIn, shows, type View } from "./rights.ts";

/** All records, ids, or how many there are; null for none. */
type Countable = "all" | readonly string[] | number | null;

/** Counted records, or those of them that show a field. */
type Counted = View & { readonly field?: string | undefined };

/** Counted records as plain data. */
export type KeptCountable = readonly (readonly [Counted, Countable])[];

/** The records that counts were about and that the caller could find when they were first counted. */
export class CountableRecords {
  readonly #before = new Map<string, readonly [Counted, Promise<Countable>]>();

  constructor(kept: KeptCountable = []) {
    for (const [view, records] of kept) this.#before.set(JSON.stringify(view), [view, Promise.resolve(records)]);
  }

  async note(scope: OperationScope, { counted, uses }: ShownRecords): Promise<void> {
    const views: readonly View[] = [
      ...Array.from(counted, ({ name }) => ({ name })),
      ...uses.flatMap(({ entity: { name }, access, rules, deleted, counts = false }) =>
        counts ? [{ name, access, rules, deleted }] : [],
      ),
    ];
    const withFields = views.flatMap((view): Counted[] => [
      view,
      ...askableFields(scope, view.name).map((field) => ({ ...view, field })),
    ]);
    for (const view of withFields) {
      const key = JSON.stringify(view);
      if (!this.#before.has(key)) this.#before.set(key, [view, countableOf(scope, view)]);
    }
    await this.kept();
  }

  /** Whether the caller can no longer find some of them. */
  async areLost(scope: OperationScope): Promise<boolean> {
    for (const [view, before] of await this.kept()) if (!includes(await countableOf(scope, view), before)) return true;
    return false;
  }

  kept(): Promise<KeptCountable> {
    return Promise.all(Array.from(this.#before.values(), async ([view, records]) => [view, await records] as const));
  }
}

async function countableOf(scope: OperationScope, { field, ...view }: Counted): Promise<Countable> {
  if (view.access === undefined && field === undefined) {
    const { allowed, predicate, guard } = await scope.access.readDecision(view.name);
    if (allowed && predicate === undefined && guard === undefined) return "all";
  }
  return (await foundIn(scope, view, field === undefined ? undefined : shows(field))) ?? null;
}

/** Above the limit of ids, only numbers can be compared. */
function includes(now: Countable, before: Countable): boolean {
  if (now === "all" || before === "all") return now === "all";
  if (Array.isArray(now) && Array.isArray(before)) {
    const ids = new Set(now);
    return before.every((id) => ids.has(id));
  }
  return sizeOf(now) >= sizeOf(before);
}

function sizeOf(one: readonly string[] | number | null): number {
  return typeof one === "number" ? one : (one?.length ?? 0);
}
