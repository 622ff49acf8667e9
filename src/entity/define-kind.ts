import type { ZodType } from "zod";
import { ConfigurationError } from "./base/keelson-error.ts";
import { field } from "./field.ts";
import type { ScalarField } from "./field-modifiers.ts";
import {
  bigintKind,
  boolKind,
  dateKind,
  datetimeKind,
  floatKind,
  intKind,
  jsonKind,
  stringKind,
  timeKind,
  uuidKind,
} from "./kinds/index.ts";
import { type FieldKind, type Parsed, parsed, unreadable } from "./kinds/kind.ts";
import type { Operator } from "./kinds/operators.ts";

/** The options of `defineKind`. */
export interface KindOptions<T> {
  /** The name in error messages and listings, such as "money". */
  readonly name: string;
  /** The kind that stores its values; it determines the order, and the operators. */
  readonly stored: keyof typeof STORED;
  /**
   * Validates one input value in its JSON form, without optionality and defaults. The result is stored, so the kind
   * behind `stored` must be able to store it. Its JSON Schema is part of the documentation; `.meta()` adds to it.
   */
  readonly schema: ZodType<T>;
  /** The operators that conditions may use, a subset of the stored kind's. @default all of them */
  readonly operators?: readonly Operator[] | undefined;
  /** Converts a value to its CSV text; requires `fromText`. @default like the stored kind */
  readonly toText?: ((value: T) => string) | undefined;
  /** Converts a CSV text to a value, which the schema then validates; undefined for an invalid text. */
  readonly fromText?: ((text: string) => unknown) | undefined;
}

const STORED = {
  string: stringKind as FieldKind,
  int: intKind as FieldKind,
  bigint: bigintKind as FieldKind,
  float: floatKind as FieldKind,
  bool: boolKind as FieldKind,
  datetime: datetimeKind as FieldKind,
  date: dateKind as FieldKind,
  time: timeKind as FieldKind,
  uuid: uuidKind as FieldKind,
  json: jsonKind,
} as const;

/**
 * Defines a custom field kind with all modifiers: `price: money` and `price: money.optional()`.
 * @throws ConfigurationError for a name that is not an identifier, an unknown `stored`, an operator that the stored
 *   kind does not have, and for only one of `toText` and `fromText`
 * @example
 * const cents = defineKind({ name: "cents", stored: "int", schema: z.int().min(0).meta({ description: "in cents" }) })
 */
export function defineKind<T>({ name, stored, schema, operators, toText, fromText }: KindOptions<T>): ScalarField<T> {
  const base = STORED[stored];
  const at = `defineKind({ name: "${name}" })`;
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) throw new ConfigurationError(`${at}: the name is one word, such as "money"`);
  if (base === undefined)
    throw new ConfigurationError(`${at}: \`stored\` is one of ${Object.keys(STORED).join(", ")}, not "${stored}"`);
  const unknown = operators?.find((operator) => !base.operators.has(operator));
  if (unknown !== undefined) throw new ConfigurationError(`${at}: ${stored} has no operator "${unknown}"`);
  if ((toText === undefined) !== (fromText === undefined))
    throw new ConfigurationError(`${at}: \`toText\` and \`fromText\` come together`);
  const converted = convertedBy(base as unknown as FieldKind<T>, schema);
  const read = (value: unknown): Parsed<T> => {
    const found = converted.safeParse(value);
    return found.success ? parsed(found.data) : unreadable(found.error.issues[0]?.message ?? `must be ${name}`);
  };
  const kind: FieldKind<T> = {
    ...(base as unknown as FieldKind<T>),
    name,
    operators: operators === undefined ? base.operators : new Set(operators),
    parse(text) {
      const found = base.parse(text);
      return found.ok ? read(found.value) : found;
    },
    schema: () => converted,
    ...(toText !== undefined && { toCell: toText }),
    ...(fromText !== undefined && { fromCell: (text: string) => read(fromText(text)) }),
  };
  return field(Object.freeze(kind) as FieldKind);
}

/** The schema with values in the form in which they are stored, such as a UUID in lower case: rules see what is stored. */
function convertedBy<T>({ convert }: FieldKind<T>, schema: ZodType<T>): ZodType<T> {
  if (convert === undefined) return schema;
  return schema.check((given) => {
    const found = convert(given.value);
    if (found.ok) given.value = found.value;
    else given.issues.push({ code: "custom", message: found.message, input: given.value });
  });
}
