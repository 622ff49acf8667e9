import { randomUUID } from "node:crypto";
import { type StringField, string } from "keelson";
import { ConfigurationError, type FieldDefinition, type RuleRef } from "keelson/plugin";

/** What one slug field says about itself. */
export interface SlugFieldOptions {
  /** The field it is made from: short or long text that callers may read. @default "title" */
  readonly from?: string | undefined;
  /** Whether it is made anew when that field changes. Links to the old slug stop working then. @default false */
  readonly follow?: boolean | undefined;
  /** Stands between words. @default that of `slugs()` */
  readonly separator?: "-" | "_" | undefined;
  /** Characters at most, a number at the end included; from 16 to 200. @default that of `slugs()` */
  readonly maxLength?: number | undefined;
  /** Rules (any of them) that must pass to write it. @default callers never write it */
  readonly writable?: RuleRef | undefined;
}

type Maker = () => string;

/** Never part of a slug. A default with it in front asks for one. */
const MARK = "~";

/** Options by the function that makes the field's default: modifiers make new fields, but keep the default. */
const options = new WeakMap<Maker, SlugFieldOptions>();
/** Those that some app has a plugin for. */
const claimed = new WeakSet<Maker>();

/**
 * A field for `entity()`: a unique text that `slugs()` fills when a record is stored. It is part of the record's type as
 * any other field; of the types of input only when it is writable.
 * @example entity("post", { title: string, slug: slug() })
 */
export function slug(given: SlugFieldOptions & { readonly writable: RuleRef }): StringField<"default">;
export function slug(given?: SlugFieldOptions): StringField<"default" | "readonly">;
export function slug(given: SlugFieldOptions = {}): StringField<"default"> | StringField<"default" | "readonly"> {
  const make: Maker = () => {
    if (!claimed.has(make)) throw new ConfigurationError("A slug() field needs the plugin: plugins: [slugs()]");
    // Different for each record: what waits for its slug must not look like a conflict.
    return `${MARK}${randomUUID()}`;
  };
  options.set(make, Object.freeze({ ...given }));
  const field = string.unique().default(make);
  return given.writable === undefined ? field.readonly() : field.writable(given.writable);
}

/** What `slug()` was told about a field; undefined for other fields. */
export function slugOptionsOf({ default: made }: FieldDefinition): SlugFieldOptions | undefined {
  return made !== undefined && "make" in made ? options.get(made.make as Maker) : undefined;
}

/** Lets a field ask for slugs: a plugin makes them. */
export function claim({ default: made }: FieldDefinition): void {
  if (made !== undefined && "make" in made) claimed.add(made.make as Maker);
}

/** Whether a value asks for a slug in its place. */
export function isPending(value: unknown): boolean {
  return typeof value === "string" && value.startsWith(MARK);
}

/** A value that asks for a slug in its place, whatever stands there now. */
export const PENDING: string = MARK;
