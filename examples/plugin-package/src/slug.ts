import { randomUUID } from "node:crypto";
import { type StringField, string } from "keelson";
import { ConfigurationError, type FieldDefinition, type RuleRef } from "keelson/plugin";

/** The options of one slug field. */
export interface SlugFieldOptions {
  /** The field it is made from: short or long text that callers may read. @default "title" */
  readonly from?: string | undefined;
  /** Whether the slug changes when that field changes. Links to the old slug then stop working. @default false */
  readonly follow?: boolean | undefined;
  /** The text between words. @default as in `slugs()` */
  readonly separator?: "-" | "_" | undefined;
  /** Maximum length in characters, including a number at the end; from 16 to 200. @default as in `slugs()` */
  readonly maxLength?: number | undefined;
  /** Rules, one of which must pass to write it. @default callers never write it */
  readonly writable?: RuleRef | undefined;
}

type Maker = () => string;

/** Never part of a slug. A default that begins with it requests a slug. */
const MARK = "~";

/** Options by the function that creates the field's default: modifiers return new fields, but keep the default. */
const options = new WeakMap<Maker, SlugFieldOptions>();
/** Fields of apps that have the plugin. */
const claimed = new WeakSet<Maker>();

/**
 * A field for `entity()`: a unique text that `slugs()` fills when a record is stored. It is part of the record's type
 * like any other field, and of the types of input only if it is writable.
 * @example entity("post", { title: string, slug: slug() })
 */
export function slug(given: SlugFieldOptions & { readonly writable: RuleRef }): StringField<"default">;
export function slug(given?: SlugFieldOptions): StringField<"default" | "readonly">;
export function slug(given: SlugFieldOptions = {}): StringField<"default"> | StringField<"default" | "readonly"> {
  const make: Maker = () => {
    if (!claimed.has(make)) throw new ConfigurationError("A slug() field needs the plugin: plugins: [slugs()]");
    // Different for each record, so that records that wait for their slugs do not conflict.
    return `${MARK}${randomUUID()}`;
  };
  options.set(make, Object.freeze({ ...given }));
  const field = string.unique().default(make);
  return given.writable === undefined ? field.readonly() : field.writable(given.writable);
}

/** The options that `slug()` received for a field; undefined for other fields. */
export function slugOptionsOf({ default: made }: FieldDefinition): SlugFieldOptions | undefined {
  return made !== undefined && "make" in made ? options.get(made.make as Maker) : undefined;
}

/** Marks a field whose slugs a plugin generates. */
export function claim({ default: made }: FieldDefinition): void {
  if (made !== undefined && "make" in made) claimed.add(made.make as Maker);
}

/** Whether a value requests a slug in its place. */
export function isPending(value: unknown): boolean {
  return typeof value === "string" && value.startsWith(MARK);
}

/** A value that requests a new slug in its place. */
export const PENDING: string = MARK;
