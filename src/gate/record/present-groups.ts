import type { AnyEntity } from "../../entity/index.ts";
import type { Row } from "../condition/condition.ts";

const MEASURES: ReadonlySet<string> = new Set(["sum", "avg", "min", "max"]);

/**
 * Groups in the form that callers receive: `{ customerId, count, sum: { total } }`.
 * @param wire whether values have their JSON form @default true
 */
export function presentGroups({ columns }: AnyEntity, groups: readonly Row[], wire = true): Row[] {
  const shown = (name: string, value: unknown): unknown => {
    const toWire = wire ? columns[name]?.kind.toWire : undefined;
    return toWire === undefined || value === null ? value : toWire(value);
  };
  return groups.map((group) => {
    const row: Row = {};
    for (const [name, value] of Object.entries(group)) {
      const dot = name.indexOf(".");
      const measure = name.slice(0, dot);
      if (dot === -1 || !MEASURES.has(measure)) {
        row[name] = shown(name, value);
        continue;
      }
      const field = name.slice(dot + 1);
      row[measure] ??= {};
      // Sums and averages are already in their final form.
      (row[measure] as Row)[field] = measure === "min" || measure === "max" ? shown(field, value) : value;
    }
    return row;
  });
}
