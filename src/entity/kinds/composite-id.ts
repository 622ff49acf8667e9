import { type FieldKind, type Parsed, parsed, unreadable } from "./kind.ts";
import { ORDER_OPERATORS } from "./operators.ts";
import { readSchema } from "./read-schema.ts";
import { idKind } from "./string.ts";

/** Separates the parts of an id; in a part it is escaped as %7E. */
const SEPARATOR = "~";

/** Converts a part of an id to text. */
function partText(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : String(value);
  return text.replaceAll("%", "%25").replaceAll(SEPARATOR, "%7E");
}

/** Composes an id from values. */
export function composeId(values: readonly unknown[]): string {
  return values.map(partText).join(SEPARATOR);
}

function textsOf(id: string): string[] {
  return id.split(SEPARATOR).map((text) => text.replaceAll("%7E", SEPARATOR).replaceAll("%25", "%"));
}

/** A column that is part of an id. */
interface Part {
  readonly kind: FieldKind;
}

/** Parses the values of an id's parts; undefined for an invalid id. */
export function idParts(parts: readonly Part[], id: string): readonly unknown[] | undefined {
  const texts = textsOf(id);
  if (texts.length !== parts.length) return undefined;
  const values: unknown[] = [];
  for (const [index, { kind }] of parts.entries()) {
    const found = kind.parse(texts[index] as string);
    if (!found.ok) return undefined;
    values.push(found.value);
  }
  return values;
}

/**
 * The kind of ids composed of several columns: "acme~ann". They sort by these columns.
 * @param parts the columns, whose kinds are known once all entities are defined
 */
export function compositeIdKind(parts: readonly Part[]): FieldKind<string> {
  const convert = (value: unknown): Parsed<string> => {
    const values = typeof value === "string" ? idParts(parts, value) : undefined;
    return values === undefined
      ? unreadable(`must be an id of ${parts.length} parts with "~" between them`)
      : parsed(composeId(values));
  };
  return Object.freeze<FieldKind<string>>({
    ...idKind,
    operators: ORDER_OPERATORS,
    parse: convert,
    accepts: (value): value is string => typeof value === "string" && value === composeId(idParts(parts, value) ?? []),
    convert,
    schema: () => readSchema(convert).meta({ type: "string", pattern: `^[^~]+(~[^~]+){${parts.length - 1}}$` }),
    compare(a, b) {
      const [one, other] = [idParts(parts, a), idParts(parts, b)];
      for (const [index, { kind }] of parts.entries()) {
        const order = kind.compare(one?.[index], other?.[index]);
        if (order !== 0) return order;
      }
      return 0;
    },
  });
}
