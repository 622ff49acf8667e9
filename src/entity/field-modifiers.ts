import type { Metadata } from "./base/metadata.ts";
import type { FieldDefinition } from "./kinds/kind.ts";
import type { RuleRef } from "./rule-ref.ts";
import type { SearchOptions } from "./search-words.ts";

/** The modifiers of a field that affect types. */
export type FieldFlag = "optional" | "default" | "hidden" | "readonly" | "restricted";

/** The structural type of any field. */
export interface AnyField {
  readonly definition: FieldDefinition;
}

/** Modifiers of every kind of field (spec 2.3). Each returns a new field; their order does not matter. */
export interface Field<T, F extends FieldFlag = never> extends AnyField {
  /** Type-level only. */
  readonly $field?: { readonly value: T; readonly flags: F };
  /** The value may be absent; stored and read as `null`. */
  optional(): Field<T, F | "optional">;
  /** The value must be unique. */
  unique(): Field<T, F>;
  /**
   * Used when a create does not contain the field. A function runs per create; a literal is also the column's default.
   */
  default(value: T | (() => T)): Field<T, F | "default">;
  /** Valid only if `test` returns strictly `true`; `message` is reported otherwise. */
  validate(test: (value: T) => boolean, message: string): Field<T, F>;
  /**
   * Rules for reading the field, of which one must pass; the field is optional in the type of records that callers
   * read.
   */
  readable(...rules: RuleRef[]): Field<T, F | "restricted">;
  /** Rules for writing the field, of which one must pass. */
  writable(...rules: RuleRef[]): Field<T, F>;
  /** Stored and usable in code, but never part of a response (spec 2.4 rule 6). */
  omit(): Field<T, F | "hidden">;
  /** Encrypted at rest (spec 2.4 rule 7). `searchable` adds a blind index for equality. */
  encrypted(options?: { searchable?: boolean }): Field<T, F>;
  /** Callers cannot write it; code with the system's rights can. */
  readonly(): Field<T, F | "readonly">;
  /**
   * The field's former name: the column is renamed and keeps its values. Remove this once every database has been
   * migrated.
   */
  renamedFrom(name: string): Field<T, F>;
  /** The column's name if it differs from the field's. */
  column(name: string): Field<T, F>;
  /** The database fills in the value if a create does not contain the field. */
  databaseDefault(): Field<T, F | "default">;
  /** The database always computes the value: the field is read-only. */
  computed(): Field<T, F | "readonly">;
  /** A description for documentation. */
  describe(text: string): Field<T, F>;
  /** An example value for documentation. */
  example(value: T): Field<T, F>;
  /** Sets a metadata value for a plugin. */
  meta<K extends keyof Metadata>(key: K, value: Metadata[K]): Field<T, F>;
}

/** Modifiers of the kinds without bounds, formats and lengths. */
export interface ScalarField<T> extends Field<T> {
  /** Makes it an ordered list of values: an array in PostgreSQL, JSON elsewhere. */
  array(): Field<T[]>;
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
  column(name: string): NumberField<F>;
  databaseDefault(): NumberField<F | "default">;
  computed(): NumberField<F | "readonly">;
  describe(text: string): NumberField<F>;
  example(value: number): NumberField<F>;
  meta<K extends keyof Metadata>(key: K, value: Metadata[K]): NumberField<F>;
  /** Smallest value allowed. */
  min(n: number, message?: string): NumberField<F>;
  /** Largest value allowed. */
  max(n: number, message?: string): NumberField<F>;
  /** Greater than zero. */
  positive(): NumberField<F>;
  /** Makes it an ordered list of values, each within the bounds: an array in PostgreSQL, JSON elsewhere. */
  array(): Field<number[], F>;
}

/** Modifiers of `decimal` and `bigint`; `N` is the type of bounds. */
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
  column(name: string): ExactField<T, N, F>;
  databaseDefault(): ExactField<T, N, F | "default">;
  computed(): ExactField<T, N, F | "readonly">;
  describe(text: string): ExactField<T, N, F>;
  example(value: T): ExactField<T, N, F>;
  meta<K extends keyof Metadata>(key: K, value: Metadata[K]): ExactField<T, N, F>;
  /** Smallest value allowed. */
  min(n: N, message?: string): ExactField<T, N, F>;
  /** Largest value allowed. */
  max(n: N, message?: string): ExactField<T, N, F>;
  /** Greater than zero. */
  positive(): ExactField<T, N, F>;
  /** Makes it an ordered list of values, each within the bounds: an array in PostgreSQL, JSON elsewhere. */
  array(): Field<T[], F>;
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
  column(name: string): StringField<F>;
  databaseDefault(): StringField<F | "default">;
  computed(): StringField<F | "readonly">;
  describe(text: string): StringField<F>;
  example(value: string): StringField<F>;
  meta<K extends keyof Metadata>(key: K, value: Metadata[K]): StringField<F>;
  /** Shortest length allowed. */
  min(n: number, message?: string): StringField<F>;
  /** Longest length allowed. */
  max(n: number, message?: string): StringField<F>;
  /** The only length allowed. */
  length(n: number, message?: string): StringField<F>;
  /** Removes leading and trailing white space before validation. */
  trim(): StringField<F>;
  /** Converts to lower case before validation. */
  lower(): StringField<F>;
  /** Converts to upper case before validation. */
  upper(): StringField<F>;
  /** Must be an e-mail address. */
  email(): StringField<F>;
  /** Must be an http or https URL. */
  url(): StringField<F>;
  /** Must match the pattern. */
  regex(pattern: RegExp, message?: string): StringField<F>;
  /**
   * `q=` searches its words and ranks the results. `weight` is the weight of a hit, compared with other fields (default
   * 1); `stem` maps the forms of a word to one text. Requires the plugin `search`.
   */
  searchable(options?: SearchOptions): StringField<F>;
  /**
   * Makes it an ordered list of texts, each checked by the preceding modifiers: an array in PostgreSQL, JSON elsewhere.
   */
  array(): Field<string[], F>;
  /** Hashed with PBKDF2 before it is stored, never returned (spec 2.4). Iterations are 1000 · 2^cost. */
  password(options?: { cost?: number }): StringField<F | "hidden">;
}

/** Modifiers of `enums`, which must come before all others. */
export interface EnumField<T extends string> extends ScalarField<T> {
  /**
   * Uses a database type: an enum in PostgreSQL, ENUM in MariaDB and MySQL, validated text elsewhere. Values sort in
   * the order of the declaration.
   * @param type the name of PostgreSQL's type @default the names of entity and field: "order_status"
   * @throws ConfigurationError for values that a database cannot store unchanged
   */
  native(type?: string): ScalarField<T>;
}
