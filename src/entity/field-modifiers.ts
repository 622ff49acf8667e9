import type { Metadata } from "./base/metadata.ts";
import type { FieldDefinition } from "./kinds/kind.ts";
import type { RuleRef } from "./rule-ref.ts";
import type { SearchOptions } from "./search-words.ts";

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
  /** The name of its column, where that is not the field's. */
  column(name: string): Field<T, F>;
  /** The database has a value for records that are created without one; it need not be given. */
  databaseDefault(): Field<T, F | "default">;
  /** The database always computes it: it is read, and never written. */
  computed(): Field<T, F | "readonly">;
  /** A sentence for documentation. */
  describe(text: string): Field<T, F>;
  /** A value for documentation. */
  example(value: T): Field<T, F>;
  /** A value for a plugin, which finds it in the field's definition. */
  meta<K extends keyof Metadata>(key: K, value: Metadata[K]): Field<T, F>;
}

/** Modifiers of the kinds that have no bounds, formats or lengths. */
export interface ScalarField<T> extends Field<T> {
  /** Several values, in order: an array of PostgreSQL, JSON elsewhere. */
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
  /** Several values, in order, each of them within the bounds: an array of PostgreSQL, JSON elsewhere. */
  array(): Field<number[], F>;
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
  /** Several values, in order, each of them within the bounds: an array of PostgreSQL, JSON elsewhere. */
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
  /**
   * `q=` finds it by its words, ranked; `weight` is how much a hit counts, compared with other fields (default 1); `stem` makes
   * one text of the forms of a word. Needs the plugin `search`.
   */
  searchable(options?: SearchOptions): StringField<F>;
  /** Several texts, in order, each of them as the modifiers before say: an array of PostgreSQL, JSON elsewhere. */
  array(): Field<string[], F>;
  /** Hashed with PBKDF2 before it is stored, never returned (spec 2.4). Iterations are 1000 · 2^cost. */
  password(options?: { cost?: number }): StringField<F | "hidden">;
}

/** Modifiers of `enums`, before all others. */
export interface EnumField<T extends string> extends ScalarField<T> {
  /**
   * A type of the database: an enum of PostgreSQL, ENUM on MariaDB and MySQL, checked text elsewhere. Its values sort in the
   * order of the declaration.
   * @param type what PostgreSQL calls it @default the names of entity and field: "order_status"
   * @throws ConfigurationError for words that a database does not keep
   */
  native(type?: string): ScalarField<T>;
}
