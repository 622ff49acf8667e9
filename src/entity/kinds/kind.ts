import type { ZodType } from "zod";
import type { GivenMetadata } from "../base/metadata.ts";
import type { Operator } from "./operators.ts";

/** A value parsed from text, or the reason why it cannot be parsed. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Databases a column type is declared for. */
export type Provider = "sqlite" | "postgresql" | "mysql";

/** The types of columns; each database has its own names for them (spec 2.2). */
export type ColumnScalar =
  | "String"
  | "Enum"
  | "Int"
  | "BigInt"
  | "Float"
  | "Decimal"
  | "Boolean"
  | "DateTime"
  | "Date"
  | "Time"
  | "Uuid"
  | "Json"
  | "List"
  | "Bytes";

/** How a kind of field is stored. */
export interface ColumnType {
  readonly scalar: ColumnScalar;
  /** The total number of digits of a decimal; `scale` is the number of decimal places. */
  readonly precision?: number;
  readonly scale?: number;
  /** The values of a native enum, in order; `type` is the name of PostgreSQL's type. */
  readonly words?: readonly string[];
  readonly type?: string | undefined;
  /** The type of a list's items. */
  readonly items?: ColumnType;
  /** The native type attribute per database, without `@db.`; if absent, the provider's default for the scalar. */
  readonly native?: Partial<Readonly<Record<Provider, string>>>;
}

/**
 * Everything that depends on a field's type: column, parser, schema, order. Shared code calls the kind, and never tests
 * for a specific kind.
 */
export interface FieldKind<T = unknown> {
  readonly name: string;
  readonly column: ColumnType;
  /** Operators that conditions on such a field may use. */
  readonly operators: ReadonlySet<Operator>;
  /** Whether conditions may use paths into its values. @default false */
  readonly hasPaths?: boolean;
  readonly sortable: boolean;
  /** Whether `q=` searches fields of this kind. */
  readonly searchable: boolean;
  /** Reads a value from a query string. */
  parse(text: string): Parsed<T>;
  /** Whether a value from code (a rule's `where`, the in-process client) is valid in a condition. */
  accepts(value: unknown): value is T;
  /**
   * Converts other forms of a value, such as a number for a decimal, to the form that conditions and drivers use.
   * @default values that `accepts` allows, unchanged
   */
  convert?(value: unknown): Parsed<T>;
  /**
   * The next value after this one, for existing tables whose columns may store values between the two; undefined after
   * the last value. @default columns store the kind's own values only
   */
  next?(value: T): T | undefined;
  /**
   * The first and the last value. They represent all values outside this range in columns of existing tables, such as
   * an infinite date. @default columns store no such values
   */
  readonly bounds?: readonly [first: T, last: T];
  /** Converts a value to its stored form if the two differ, as for ids stored as numbers. */
  toStored?(value: T): unknown;
  /** Converts the stored form to a value; required with `toStored`. */
  fromStored?(stored: unknown): T;
  /**
   * The zod schema of one input value, without optionality and defaults. Its metadata describes custom checks in JSON
   * Schema, so that `z.toJSONSchema` describes the JSON form of the value.
   */
  schema(field: FieldDefinition): ZodType;
  /** The kind of the items, for lists. */
  readonly item?: FieldKind;
  /** All values in order, for kinds with few values: conditions can then list those that pass a test. */
  readonly values?: readonly T[];
  /** This kind as a type of the database; for enums. @param type the name of PostgreSQL's type */
  native?(type: string | undefined): FieldKind<T>;
  /** Compares like the database; only used when `sortable`. */
  compare(a: T, b: T): number;
  /** Converts a stored value to its JSON form; the value itself when absent. */
  toWire?(value: T): unknown;
  /**
   * Whether the JSON form is text that never contains characters to escape, so that it is not searched for them.
   * @default false
   */
  readonly unescaped?: boolean;
  /** Converts a value to a CSV cell. Not called for null, which is an empty cell. */
  toCell(value: T): Cell;
  /** Parses the text of a CSV cell; `parse` when absent. */
  fromCell?(text: string): Parsed<T>;
}

/** Returns the stem of a word: "run" for "running" and "runs". */
export type Stem = (word: string) => string;

/** A CSV cell: texts are quoted, even when empty; numbers and booleans are not. */
export type Cell = string | number | boolean;

/** A successful parse. */
export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** A failed parse; the message completes the sentence “<field> …”. */
export function unreadable(message: string): Parsed<never> {
  return { ok: false, message };
}

/** A rule in a definition: a name, and further members for the plugin that resolves it. */
export interface RuleObject {
  readonly name: string;
  /** The rules that this rule combines. */
  readonly parts?: readonly (string | RuleObject)[];
}

/** A limit with the message for values that exceed it. */
export interface Bound {
  readonly value: number;
  readonly message?: string | undefined;
}

/** A limit for an exact number, in a form that its kind accepts. */
export interface ExactBound {
  readonly value: number | string | bigint;
  readonly message?: string | undefined;
}

/** A predicate on one field's value; only a strict `true` passes (spec 2.3). */
export interface FieldValidator {
  readonly test: (value: never) => unknown;
  readonly message: string;
}

/** A modifier that changes a text; see string.ts. */
export type TextChange = "trim" | "lower" | "upper";

/** A field as passive, frozen data. Modifiers only store annotations here; plugins implement them. */
export interface FieldDefinition {
  readonly kind: FieldKind;
  readonly optional: boolean;
  readonly unique: boolean;
  /** A literal (deep-cloned per create, also a database default) or a function run per create. */
  readonly default?: { readonly value: unknown } | { readonly make: () => unknown };
  readonly min?: Bound;
  readonly max?: Bound;
  /** Bounds of exact numbers, which doubles cannot represent. */
  readonly least?: ExactBound;
  readonly most?: ExactBound;
  readonly length?: Bound;
  readonly positive: boolean;
  /** The changes to a text before it is validated. */
  readonly changes: readonly TextChange[];
  readonly formats: readonly ("email" | "url")[];
  readonly patterns: readonly { readonly regex: RegExp; readonly message?: string | undefined }[];
  readonly validators: readonly FieldValidator[];
  /** Callers may never write it, independent of rules. */
  readonly readonly: boolean;
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
  /** The rules of `readable` and `writable` that are objects. */
  readonly ruleObjects?: {
    readonly readable?: readonly RuleObject[];
    readonly writable?: readonly RuleObject[];
  };
  readonly omit: boolean;
  readonly password?: { readonly cost: number };
  readonly encrypted?: { readonly searchable: boolean };
  /** Makes its words searchable, with a weight for hits. */
  readonly search?: { readonly weight: number; readonly stem?: Stem | undefined };
  /** The former name of its column. */
  readonly renamedFrom?: string;
  /** The name of its column. @default the field's */
  readonly column?: string;
  /** How the database fills it in: with a default for missing values, or by always computing it. */
  readonly filledBy?: "default" | "computation";
  readonly description?: string;
  readonly example?: unknown;
  /** Metadata for plugins. */
  readonly meta?: GivenMetadata;
}

/** A field definition with a kind and no modifiers. */
export function plainField(kind: FieldKind): FieldDefinition {
  return Object.freeze({
    kind,
    optional: false,
    unique: false,
    positive: false,
    changes: Object.freeze([]),
    formats: Object.freeze([]),
    patterns: Object.freeze([]),
    validators: Object.freeze([]),
    readonly: false,
    omit: false,
  });
}
