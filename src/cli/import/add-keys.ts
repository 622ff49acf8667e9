import { fullName, type TableIndex } from "./database-shape.ts";
import type { Draft } from "./import-plan.ts";

/**
 * Adds the unique combinations and indexes of an entity.
 * @param lose reports those that entities cannot express, with the reason
 */
export function addKeys(
  { table, names, calls }: Draft,
  lose: (what: "uniques" | "indexes", sentence: string) => void,
): void {
  const namesOf = ({ columns }: TableIndex): readonly string[] | undefined => {
    const found = columns.map((column) => names.get(column));
    return found.length > 0 && found.every((name) => name !== undefined) ? (found as string[]) : undefined;
  };
  const sayMissing = (what: "uniques" | "indexes", index: TableIndex): void =>
    lose(
      what,
      `${fullName(table)}: the ${what === "uniques" ? "unique index" : "index"} ${index.name} ${index.special === undefined ? "is about columns without fields" : `is ${index.special}`}, and stays the database's own business`,
    );
  for (const unique of table.uniques) {
    const found = unique.special === undefined ? namesOf(unique) : undefined;
    if (found === undefined) sayMissing("uniques", unique);
    else if (found.length > 1) calls.push(`unique([${found.map((name) => JSON.stringify(name)).join(", ")}])`);
  }
  const said = new Set<string>();
  for (const index of table.indexes) {
    const found = index.special === undefined ? namesOf(index) : undefined;
    const isKnown = found?.every((name) => !["createdAt", "updatedAt"].includes(name)) === true;
    if (found === undefined) sayMissing("indexes", index);
    else if (isKnown && !said.has(found.join()) && found.join() !== "id")
      calls.push(`index([${found.map((name) => JSON.stringify(name)).join(", ")}])`);
    said.add(found?.join() ?? "");
  }
}
