import type { FieldKind } from "./kind.ts";

/** A rule as definitions see it: a name, and whatever the one who resolves it finds in it. */
export interface RuleObject {
  readonly name: string;
  /** Rules that this one only combines; its name says how. */
  readonly parts?: readonly (string | RuleObject)[];
}

/** A limit with the message shown when it is crossed. */
export interface Bound {
  readonly value: number;
  readonly message?: string | undefined;
}

/** A predicate on one field's value; anything but strict `true` fails (spec 2.3). */
export interface FieldValidator {
  readonly test: (value: never) => unknown;
  readonly message: string;
}

/** A field as passive, frozen data. Modifiers only write annotations here; plugins give them meaning. */
export interface FieldDefinition {
  readonly kind: FieldKind;
  readonly optional: boolean;
  readonly unique: boolean;
  /** A literal (deep-cloned per create, also a database default) or a function run per create. */
  readonly default?: { readonly value: unknown } | { readonly make: () => unknown };
  readonly min?: Bound;
  readonly max?: Bound;
  readonly length?: Bound;
  readonly positive: boolean;
  readonly trim: boolean;
  readonly lower: boolean;
  readonly upper: boolean;
  readonly formats: readonly ("email" | "url")[];
  readonly patterns: readonly { readonly regex: RegExp; readonly message?: string | undefined }[];
  readonly validators: readonly FieldValidator[];
  /** Callers may not write it, whatever the rules say. */
  readonly readonly: boolean;
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
  /** Those of `readable` and `writable` that were given as objects. */
  readonly ruleObjects?: {
    readonly readable?: readonly RuleObject[];
    readonly writable?: readonly RuleObject[];
  };
  readonly omit: boolean;
  readonly password?: { readonly cost: number };
  readonly encrypted?: { readonly searchable: boolean };
  /** What its column was called before. */
  readonly renamedFrom?: string;
  readonly description?: string;
  readonly example?: unknown;
}

/** A definition with nothing said but the kind. */
export function plainField(kind: FieldKind): FieldDefinition {
  return Object.freeze({
    kind,
    optional: false,
    unique: false,
    positive: false,
    trim: false,
    lower: false,
    upper: false,
    formats: Object.freeze([]),
    patterns: Object.freeze([]),
    validators: Object.freeze([]),
    readonly: false,
    omit: false,
  });
}
