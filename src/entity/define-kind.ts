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

/** What `defineKind` takes. */
export interface KindOptions<T> {
  /** In error messages and listings, such as "money". */
  readonly name: string;
  /** The kind that stores its values; it decides about order, and about operators. */
  readonly stored: keyof typeof STORED;
  /**
   * One input value, as in JSON, without optionality and defaults. What it gives is stored, so it must be a value that
   * the kind behind `stored` can store. Its JSON Schema is in the documentation; `.meta()` adds to it.
   */
  readonly schema: ZodType<T>;
  /** The operators that conditions may use, of those that the stored kind has. @default all of these */
  readonly operators?: readonly Operator[] | undefined;
  /** The text of a value in CSV, with `fromText`. @default as the stored kind */
  readonly toText?: ((value: T) => string) | undefined;
  /** The value of such a text, which the schema checks; undefined when there is no such value. */
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
 * A kind of field of one's own, with all modifiers: `price: money` and `price: money.optional()`.
 * @throws ConfigurationError for a name that is not an identifier, an unknown `stored`, an operator that it does not have,
 *   and one of `toText` and `fromText` alone
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
  const read = (value: unknown): Parsed<T> => {
    const found = schema.safeParse(value);
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
    schema: () => schema,
    ...(toText !== undefined && { toCell: toText }),
    ...(fromText !== undefined && { fromCell: (text: string) => read(fromText(text)) }),
  };
  return field(Object.freeze(kind) as FieldKind);
}
