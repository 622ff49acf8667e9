import { ConfigurationError } from "./keelson-error.ts";
import {
  bigintKind,
  boolKind,
  bytesKind,
  dateKind,
  datetimeKind,
  decimalKind,
  emailKind,
  enumKind,
  floatKind,
  intKind,
  jsonKind,
  MOST_DIGITS,
  stringKind,
  textKind,
  timeKind,
  uuidKind,
} from "./kinds/index.ts";
import { type Bound, type FieldDefinition, type FieldKind, plainField } from "./kinds/kind.ts";
import { type RuleRef, ruleName, ruleObjectsOf } from "./rule-ref.ts";

/** What the types know about a field's modifiers. */
export type FieldFlag = "optional" | "default" | "hidden" | "readonly" | "restricted";

/** Structural view of any field; what shared code reads. */
export interface AnyField {
  readonly definition: FieldDefinition;
}

/** Modifiers that every kind of field has (spec 2.3). Each returns a new field; their order never matters. */
export interface Field<T, F extends FieldFlag = never> extends AnyField {
  /** Type-level only. */
  readonly $field?: { readonly value: T; readonly flags: F };
  /** The value may be absent; stored and read as `null`. */
  optional(): Field<T, F | "optional">;
  /** No two records share the value. */
  unique(): Field<T, F>;
  /** Used when create does not name the field. A function runs per create; a literal is also the column's default. */
  default(value: T | (() => T)): Field<T, F | "default">;
  /** Passes only when `test` returns strictly `true`; `message` is what the caller reads otherwise. */
  validate(test: (value: T) => boolean, message: string): Field<T, F>;
  /** Rules (any of them) that must pass to see the field; it is optional in the type of records that callers read. */
  readable(...rules: RuleRef[]): Field<T, F | "restricted">;
  /** Rules (any of them) that must pass to write the field. */
  writable(...rules: RuleRef[]): Field<T, F>;
  /** Stored and usable in code, absent from every response (spec 2.4 rule 6). */
  omit(): Field<T, F | "hidden">;
  /** Encrypted at rest (spec 2.4 rule 7). `searchable` adds a blind index for equality. */
  encrypted(options?: { searchable?: boolean }): Field<T, F>;
  /** Callers never write it; code with the system's rights does. */
  readonly(): Field<T, F | "readonly">;
  /**
   * The field's former name: its column keeps its values under the new name. Remove this once every database has
   * changed.
   */
  renamedFrom(name: string): Field<T, F>;
  /** A sentence for documentation. */
  describe(text: string): Field<T, F>;
  /** A value for documentation. */
  example(value: T): Field<T, F>;
}

/** Modifiers of `int` and `float`. */
export interface NumberField<F extends FieldFlag = never> extends Field<number, F> {
  optional(): NumberField<F | "optional">;
  unique(): NumberField<F>;
  default(value: number | (() => number)): NumberField<F | "default">;
  validate(test: (value: number) => boolean, message: string): NumberField<F>;
  readable(...rules: RuleRef[]): NumberField<F | "restricted">;
  writable(...rules: RuleRef[]): NumberField<F>;
  omit(): NumberField<F | "hidden">;
  encrypted(options?: { searchable?: boolean }): NumberField<F>;
  readonly(): NumberField<F | "readonly">;
  renamedFrom(name: string): NumberField<F>;
  describe(text: string): NumberField<F>;
  example(value: number): NumberField<F>;
  /** Smallest value allowed. */
  min(n: number, message?: string): NumberField<F>;
  /** Largest value allowed. */
  max(n: number, message?: string): NumberField<F>;
  /** Greater than zero. */
  positive(): NumberField<F>;
}

/** Modifiers of `decimal` and `bigint`; `N` is what a bound may be. */
export interface ExactField<T, N, F extends FieldFlag = never> extends Field<T, F> {
  optional(): ExactField<T, N, F | "optional">;
  unique(): ExactField<T, N, F>;
  default(value: T | (() => T)): ExactField<T, N, F | "default">;
  validate(test: (value: T) => boolean, message: string): ExactField<T, N, F>;
  readable(...rules: RuleRef[]): ExactField<T, N, F | "restricted">;
  writable(...rules: RuleRef[]): ExactField<T, N, F>;
  omit(): ExactField<T, N, F | "hidden">;
  encrypted(options?: { searchable?: boolean }): ExactField<T, N, F>;
  readonly(): ExactField<T, N, F | "readonly">;
  renamedFrom(name: string): ExactField<T, N, F>;
  describe(text: string): ExactField<T, N, F>;
  example(value: T): ExactField<T, N, F>;
  /** Smallest value allowed. */
  min(n: N, message?: string): ExactField<T, N, F>;
  /** Largest value allowed. */
  max(n: N, message?: string): ExactField<T, N, F>;
  /** Greater than zero. */
  positive(): ExactField<T, N, F>;
}

/** Modifiers of `string`, `text` and `email`. Lengths count code points. */
export interface StringField<F extends FieldFlag = never> extends Field<string, F> {
  optional(): StringField<F | "optional">;
  unique(): StringField<F>;
  default(value: string | (() => string)): StringField<F | "default">;
  validate(test: (value: string) => boolean, message: string): StringField<F>;
  readable(...rules: RuleRef[]): StringField<F | "restricted">;
  writable(...rules: RuleRef[]): StringField<F>;
  omit(): StringField<F | "hidden">;
  encrypted(options?: { searchable?: boolean }): StringField<F>;
  readonly(): StringField<F | "readonly">;
  renamedFrom(name: string): StringField<F>;
  describe(text: string): StringField<F>;
  example(value: string): StringField<F>;
  /** Shortest length allowed. */
  min(n: number, message?: string): StringField<F>;
  /** Longest length allowed. */
  max(n: number, message?: string): StringField<F>;
  /** The only length allowed. */
  length(n: number, message?: string): StringField<F>;
  /** White space at both ends is removed before validation. */
  trim(): StringField<F>;
  /** Lower-cased before validation. */
  lower(): StringField<F>;
  /** Upper-cased before validation. */
  upper(): StringField<F>;
  /** Must be an e-mail address. */
  email(): StringField<F>;
  /** Must be an http or https URL. */
  url(): StringField<F>;
  /** Must match the pattern. */
  regex(pattern: RegExp, message?: string): StringField<F>;
  /** Hashed with PBKDF2 before it is stored, never returned (spec 2.4). Iterations are 1000 · 2^cost. */
  password(options?: { cost?: number }): StringField<F | "hidden">;
}

/** One implementation for all kinds; the interfaces above decide which modifiers a kind offers. */
class FieldNode implements AnyField {
  readonly definition: FieldDefinition;

  constructor(definition: FieldDefinition) {
    this.definition = Object.freeze(definition);
    Object.freeze(this);
  }

  #with(change: Partial<FieldDefinition>): FieldNode {
    return new FieldNode({ ...this.definition, ...change });
  }
  get #isExact(): boolean {
    const { scalar } = this.definition.kind.column;
    return scalar === "Decimal" || scalar === "BigInt";
  }
  #bound(value: number, message?: string): Bound {
    return Object.freeze({ value, message });
  }
  #exact(bound: "least" | "most", value: number | string | bigint, message?: string): FieldNode {
    return this.#with({ [bound]: Object.freeze({ value, message }) });
  }
  #rules(access: "readable" | "writable", rules: readonly RuleRef[]): FieldNode {
    const objects = { ...this.definition.ruleObjects, [access]: Object.freeze(ruleObjectsOf(rules)) };
    return this.#with({ [access]: Object.freeze(rules.flat().map(ruleName)), ruleObjects: Object.freeze(objects) });
  }
  #format(format: "email" | "url"): FieldNode {
    // Sorted, so that two formats in either order make the same field.
    return this.#with({ formats: Object.freeze([...new Set([...this.definition.formats, format])].sort()) });
  }

  optional(): FieldNode {
    return this.#with({ optional: true });
  }
  unique(): FieldNode {
    return this.#with({ unique: true });
  }
  default(value: unknown): FieldNode {
    const isMaker = typeof value === "function";
    return this.#with({ default: Object.freeze(isMaker ? { make: value as () => unknown } : { value }) });
  }
  validate(test: (value: never) => unknown, message: string): FieldNode {
    return this.#with({ validators: Object.freeze([...this.definition.validators, Object.freeze({ test, message })]) });
  }
  readable(...rules: RuleRef[]): FieldNode {
    return this.#rules("readable", rules);
  }
  writable(...rules: RuleRef[]): FieldNode {
    return this.#rules("writable", rules);
  }
  omit(): FieldNode {
    return this.#with({ omit: true });
  }
  encrypted(options: { searchable?: boolean } = {}): FieldNode {
    return this.#with({ encrypted: Object.freeze({ searchable: options.searchable ?? false }) });
  }
  readonly(): FieldNode {
    return this.#with({ readonly: true });
  }
  renamedFrom(name: string): FieldNode {
    return this.#with({ renamedFrom: name });
  }
  describe(text: string): FieldNode {
    return this.#with({ description: text });
  }
  example(value: unknown): FieldNode {
    return this.#with({ example: value });
  }
  min(n: number, message?: string): FieldNode {
    return this.#isExact ? this.#exact("least", n, message) : this.#with({ min: this.#bound(n, message) });
  }
  max(n: number, message?: string): FieldNode {
    return this.#isExact ? this.#exact("most", n, message) : this.#with({ max: this.#bound(n, message) });
  }
  length(n: number, message?: string): FieldNode {
    return this.#with({ length: this.#bound(n, message) });
  }
  positive(): FieldNode {
    return this.#with({ positive: true });
  }
  trim(): FieldNode {
    return this.#with({ trim: true });
  }
  lower(): FieldNode {
    return this.#with({ lower: true });
  }
  upper(): FieldNode {
    return this.#with({ upper: true });
  }
  email(): FieldNode {
    return this.#format("email");
  }
  url(): FieldNode {
    return this.#format("url");
  }
  regex(regex: RegExp, message?: string): FieldNode {
    return this.#with({ patterns: Object.freeze([...this.definition.patterns, Object.freeze({ regex, message })]) });
  }
  password(options: { cost?: number } = {}): FieldNode {
    return this.#with({ password: Object.freeze({ cost: options.cost ?? 10 }) });
  }
}

/** A field of a kind. */
export function field<TField extends AnyField>(kind: FieldKind): TField {
  // The node has every modifier; TField shows those that make sense for the kind.
  return new FieldNode(plainField(kind)) as unknown as TField;
}

/** Short text, at most 255 characters. VARCHAR(255). */
export const string: StringField = field(stringKind as FieldKind);
/** Long text, at most 1 MiB. TEXT. */
export const text: StringField = field(textKind as FieldKind);
/** An e-mail address, at most 255 characters. VARCHAR(255). */
export const email: StringField = field(emailKind as FieldKind);
/** A 32-bit integer. INTEGER. */
export const int: NumberField = field(intKind as FieldKind);
/** A double-precision number. DOUBLE. */
export const float: NumberField = field(floatKind as FieldKind);
/** A 64-bit integer; a `bigint` in code, text on the wire. BIGINT. */
export const bigint: ExactField<bigint, bigint | number> = field(bigintKind as FieldKind);

/**
 * An exact decimal number: text in code and on the wire, with all digits behind the point ("19.90"). DECIMAL.
 * @param precision digits in all, 1 to 65
 * @param scale digits behind the point @default 0
 * @throws ConfigurationError for digits outside these bounds
 */
export function decimal(precision: number, scale = 0): ExactField<string, string | number> {
  const isCount = Number.isInteger(precision) && Number.isInteger(scale);
  if (!isCount || precision < 1 || precision > MOST_DIGITS || scale < 0 || scale > precision)
    throw new ConfigurationError(
      `decimal(${precision}, ${scale}): the precision is between 1 and ${MOST_DIGITS}, and the scale between 0 and the precision`,
    );
  return field(decimalKind(precision, scale) as FieldKind);
}

/** true or false. BOOLEAN. */
export const bool: Field<boolean> = field(boolKind as FieldKind);
/** Alias of {@link bool}. */
export const boolean: Field<boolean> = bool;
/** A datetime; a `Date` in code, ISO 8601 in UTC on the wire. TIMESTAMP. */
export const datetime: Field<Date> = field(datetimeKind as FieldKind);
/** A day of the calendar: "2024-05-31", in code too. DATE. */
export const date: Field<string> = field(dateKind as FieldKind);
/** A time of day, to the millisecond: "09:30:00", in code too. TIME(3). */
export const time: Field<string> = field(timeKind as FieldKind);
/** A UUID, in small letters. UUID. */
export const uuid: Field<string> = field(uuidKind as FieldKind);
/** Bytes; a `Uint8Array` in code, base64 on the wire. BYTEA or BLOB. */
export const bytes: Field<Uint8Array> = field(bytesKind as FieldKind);
/** Any JSON value. JSON or JSONB. */
export const json: Field<unknown> = field(jsonKind);

/** A JSON value whose type only the compiler knows; validate it with `.validate()` where it matters. */
export function jsonTyped<T>(): Field<T> {
  return field(jsonKind);
}

/** One of a fixed list of words, typed as their union. */
export function enums<const T extends readonly [string, ...string[]]>(...values: T): Field<T[number]> {
  return field(enumKind(values) as FieldKind);
}
