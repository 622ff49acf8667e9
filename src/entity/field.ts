import { ConfigurationError } from "./base/keelson-error.ts";
import { withMetadata } from "./base/metadata.ts";
import { suggestMethods } from "./base/misspelt-methods.ts";
import type { AnyField } from "./field-modifiers.ts";
import { arrayKind } from "./kinds/array.ts";
import { type Bound, type FieldDefinition, type FieldKind, plainField, type TextChange } from "./kinds/kind.ts";
import { type RuleRef, ruleName, ruleObjectsOf } from "./rule-ref.ts";
import type { SearchOptions } from "./search-words.ts";

/** One implementation for all kinds; interfaces determine which modifiers a kind has. */
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
  #change(change: TextChange): FieldNode {
    return this.#with({ changes: Object.freeze([...new Set([...this.definition.changes, change])].sort()) });
  }
  #format(format: "email" | "url"): FieldNode {
    // Sorted, so that the order of formats does not matter.
    return this.#with({ formats: Object.freeze([...new Set([...this.definition.formats, format])].sort()) });
  }

  native(type?: string): FieldNode {
    const { kind } = this.definition;
    const native = kind.native?.(type);
    if (native === undefined)
      throw new ConfigurationError(`.native() is for enums; a ${kind.name} field has the type of its kind`);
    return this.#with({ kind: native });
  }
  array(): FieldNode {
    const { kind, min, max, least, most, length, positive, changes, formats, patterns, validators, ...own } =
      this.definition;
    const { default: value, password, search } = own;
    if (kind.item !== undefined || kind.column.scalar === "Json")
      throw new ConfigurationError(`.array(): a ${kind.name} field has no arrays; use json`);
    if (value !== undefined || password !== undefined || search !== undefined)
      throw new ConfigurationError(".array() comes before .default(), and not with .password() or .searchable()");
    const limits = { min, max, least, most, length, positive, changes, formats, patterns, validators };
    const given = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
    const item = Object.freeze({ ...plainField(kind), ...given }) as FieldDefinition;
    return new FieldNode({ ...plainField(arrayKind(item) as FieldKind), ...own } as FieldDefinition);
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
    return this.#change("trim");
  }
  lower(): FieldNode {
    return this.#change("lower");
  }
  upper(): FieldNode {
    return this.#change("upper");
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
  searchable({ weight = 1, stem }: SearchOptions = {}): FieldNode {
    return this.#with({ search: Object.freeze({ weight, ...(stem !== undefined && { stem }) }) });
  }
  password(options: { cost?: number } = {}): FieldNode {
    return this.#with({ password: Object.freeze({ cost: options.cost ?? 10 }) });
  }
}

suggestMethods(FieldNode);

/** Makes a field of a kind. */
export function field<TField extends AnyField>(kind: FieldKind): TField {
  // The node has every modifier; TField has those that apply to the kind.
  return new FieldNode(plainField(kind)) as unknown as TField;
}
