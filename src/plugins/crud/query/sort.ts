import { didYouMean, explainRemote, type SortKey, shownName } from "../../../kernel/index.ts";
import { addProblem, type Reading, single } from "./reading.ts";

/** Reads the order: `_sort=a,-b`, or `_sort=a,b&_order=asc,desc` as json-server has it. */
export function readSort(reading: Reading): readonly SortKey[] | undefined {
  const text = single(reading, "_sort");
  const orders = readOrders(reading);
  if (text === undefined) {
    if (orders !== undefined) addProblem(reading, "_order", '"_order" needs "_sort".');
    return undefined;
  }
  const names = text.split(",");
  if (names.length > reading.limits.sortKeys)
    addProblem(reading, "_sort", `"_sort" takes at most ${reading.limits.sortKeys} fields.`);
  if (orders !== undefined && orders.length > names.length)
    addProblem(reading, "_order", '"_order" names more directions than "_sort" fields.');
  const keys: SortKey[] = [];
  for (const [index, item] of names.entries()) {
    const minus = item.startsWith("-");
    const field = minus ? item.slice(1) : item;
    if (!reading.mask.sortable.has(field)) addProblem(reading, "_sort", unknownKey(reading, field));
    else if (keys.some((key) => key.field === field)) addProblem(reading, "_sort", `"_sort" names "${field}" twice.`);
    else if (minus && orders !== undefined)
      addProblem(reading, "_sort", `Say the direction of "${field}" with "-" or with "_order", not both.`);
    keys.push({ field, direction: minus ? "desc" : (orders?.[index] ?? "asc") });
  }
  return keys;
}

function unknownKey({ table, mask }: Reading, name: string): string {
  const remote = explainRemote(table.relations.get(name.split(".", 1)[0] as string), mask);
  return remote ?? `There is no field "${shownName(name)}" to sort by.${didYouMean(name, mask.sortable)}`;
}

function readOrders(reading: Reading): readonly SortKey["direction"][] | undefined {
  return single(reading, "_order")
    ?.split(",")
    .map((word) => {
      const direction = word.toLowerCase();
      if (direction === "asc" || direction === "desc") return direction;
      addProblem(reading, "_order", '"_order" takes asc and desc.');
      return "asc";
    });
}
