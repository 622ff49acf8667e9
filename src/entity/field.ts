import { ConfigurationError } from "./keelson-error.ts";
import { type Bound, type FieldDefinition, type FieldKind, plainField } from "./kinds/kind.ts";
import { type Metadata, withMetadata } from "./metadata.ts";
import { type RuleRef, ruleName, ruleObjectsOf } from "./rule-ref.ts";
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
   * `q=` finds it by its words, ranked; `weight` is how much a hit counts, compared with other fields (default 1). Needs the
   * plugin `search`.
   */
  searchable(options?: SearchOptions): StringField<F>;
  /** Hashed with PBKDF2 before it is stored, never returned (spec 2.4). Iterations are 1000 · 2^cost. */
  password(options?: { cost?: number }): StringField<F | "hidden">;
}

/** Modifiers of `enums`, before all others. */
export interface EnumField<T extends string> extends Field<T> {
  /**
   * A type of the database: an enum of PostgreSQL, ENUM on MariaDB and MySQL, checked text elsewhere. Its values sort in the
   * order of the declaration.
   * @param type what PostgreSQL calls it @default the names of entity and field: "order_status"
   * @throws ConfigurationError for words that a database does not keep
   */
  native(type?: string): Field<T>;
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

  native(type?: string): FieldNode {
    const { kind } = this.definition;
    const native = kind.native?.(type);
    if (native === undefined)
      throw new ConfigurationError(`.native() is for enums; a ${kind.name} field has the type of its kind`);
    return this.#with({ kind: native });
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
  column(name: string): FieldNode {
    return this.#with({ column: name });
  }
  databaseDefault(): FieldNode {
    return this.#with({ filledBy: "default" });
  }
  computed(): FieldNode {
    return this.#with({ filledBy: "computation", readonly: true });
  }
  describe(text: string): FieldNode {
    return this.#with({ description: text });
  }
  example(value: unknown): FieldNode {
    return this.#with({ example: value });
  }
  meta(key: string, value: unknown): FieldNode {
    return this.#with({ meta: withMetadata(this.definition.meta, key, value) });
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
  searchable({ weight = 1 }: SearchOptions = {}): FieldNode {
    return this.#with({ search: Object.freeze({ weight }) });
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
