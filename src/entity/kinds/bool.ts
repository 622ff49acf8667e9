import * as z from "zod";
import { EQUALITY_OPERATORS, type FieldKind, parsed, unreadable } from "./kind.ts";

const MESSAGE = "must be true or false";

/** true or false; BOOLEAN. Spec 2.2. Only the two JSON literals, no `1`, `"yes"` or `"TRUE"`. */
export const boolKind: FieldKind<boolean> = Object.freeze<FieldKind<boolean>>({
  name: "bool",
  column: { scalar: "Boolean" },
  operators: EQUALITY_OPERATORS,
  sortable: true,
  values: Object.freeze([false, true]),
  searchable: false,
  parse: (text) => (text === "true" ? parsed(true) : text === "false" ? parsed(false) : unreadable(MESSAGE)),
  accepts: (value): value is boolean => typeof value === "boolean",
  schema: () => z.boolean(MESSAGE),
  compare: (a, b) => Number(a) - Number(b),
  toCell: (value) => value,
});
