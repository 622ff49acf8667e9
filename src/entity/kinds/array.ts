import * as z from "zod";
import { type FieldDefinition, type FieldKind, type Parsed, parsed, unreadable } from "./kind.ts";
import { LIST_OPERATORS } from "./operators.ts";

const MESSAGE = "must be an array";

/** Parses a value of a kind from its form in code or in JSON. */
function readItem(kind: FieldKind, value: unknown): Parsed<unknown> {
  if (kind.accepts(value)) return parsed(value);
  if (kind.convert !== undefined) return kind.convert(value);
  return typeof value === "string" ? kind.parse(value) : unreadable("cannot be an item");
}

function readItems(kind: FieldKind, values: unknown): Parsed<readonly unknown[]> {
  if (!Array.isArray(values)) return unreadable(MESSAGE);
  const items: unknown[] = [];
  for (const value of values) {
    const item = readItem(kind, value);
    if (!item.ok) return item;
    items.push(item.value);
  }
  return parsed(items);
}

/** Limits the report on a list with many invalid items. */
const MOST_ISSUES = 20;

/** The part of a zod issue that is used. */
interface ItemIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code: string;
  readonly params?: { readonly code?: string } | undefined;
}

/** Validates each item like a field of its kind, until there are too many issues. */
function itemsSchema(item: FieldDefinition): z.ZodType {
  const one = item.kind.schema(item);
  const checked = item.validators.reduce(
    (schema, { test, message }) => schema.refine((value) => test(value as never) === true, { error: message }),
    one,
  );
  const { $schema: _, ...described } = z.toJSONSchema(checked, { io: "input", unrepresentable: "any" });
  return z.array(z.unknown().meta(described), { error: MESSAGE }).transform((values, { issues }) =>
    values.map((value, index) => {
      if (issues.length >= MOST_ISSUES) return undefined;
      const read = checked.safeParse(value);
      for (const { path, message, code, params } of (read.error?.issues ?? []) as readonly ItemIssue[])
        issues.push({ code: "custom", path: [index, ...path], message, input: value, params: { code, ...params } });
      return read.data;
    }),
  );
}

/**
 * A list of values of a kind; an array in PostgreSQL, JSON elsewhere. Items are never null.
 * @param item the definition of the items
 */
export function arrayKind(item: FieldDefinition): FieldKind<readonly unknown[]> {
  const { kind } = item;
  const { toWire } = kind;
  // Arrays of existing tables may contain nulls.
  const wireItem = (value: unknown): unknown => (value === null ? null : toWire?.(value));
  const wire = (values: readonly unknown[]): readonly unknown[] =>
    toWire === undefined ? values : values.map(wireItem);
  return Object.freeze<FieldKind<readonly unknown[]>>({
    name: `${kind.name}[]`,
    column: Object.freeze({ scalar: "List", items: kind.column }),
    item: kind,
    operators: LIST_OPERATORS,
    sortable: false,
    searchable: false,
    parse: () => unreadable("cannot be compared"),
    accepts: (value): value is readonly unknown[] => readItems(kind, value).ok,
    convert: (value) => readItems(kind, value),
    schema: () => itemsSchema(item),
    compare: () => 0,
    toWire: wire,
    toCell: (values) => JSON.stringify(wire(values)),
    fromCell(text) {
      try {
        return parsed(JSON.parse(text) as readonly unknown[]); // validation checks the items
      } catch {
        return unreadable(`${MESSAGE} in JSON`);
      }
    },
  });
}
