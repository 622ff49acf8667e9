import { type AnyEntity, didYouMean, type EntityModel, type FieldDefinition } from "keelson/plugin";
import { claim, type SlugFieldOptions, slugOptionsOf } from "./slug.ts";
import { type SlugStyle, withoutAccents } from "./slug-text.ts";
import type { SlugsOptions } from "./slugs.ts";

/** The resolved options for the slug of one entity. */
export interface SlugPlan {
  readonly entity: AnyEntity;
  /** The field that holds it. */
  readonly field: string;
  /** The field it is made from. */
  readonly from: string;
  readonly follow: boolean;
  readonly style: SlugStyle;
}

/** By the name of the entity. */
export type SlugPlans = ReadonlyMap<string, SlugPlan>;

const SHORTEST = 16;
const LONGEST = 200;
const APP_OPTIONS = ["separator", "maxLength", "follow", "transliterate", "route"];
const FIELD_OPTIONS = ["from", "follow", "separator", "maxLength", "writable"];

/**
 * Finds the slug fields of an app.
 * @param problem receives a sentence for the start-up report
 */
export function compileSlugPlans(
  model: EntityModel,
  options: Partial<SlugsOptions>,
  problem: (sentence: string) => void,
): SlugPlans {
  const report = (at: string) => (sentence: string) => problem(`${at}: ${sentence}`);
  checkOptions(options, APP_OPTIONS, report("slugs()"));
  const { transliterate } = options;
  if (transliterate !== undefined && typeof transliterate !== "function")
    problem("slugs(): transliterate must be a function from text to text");
  const plans = new Map<string, SlugPlan>();
  for (const entity of model.entities) {
    for (const [field, definition] of Object.entries(entity.fields)) {
      const own = slugOptionsOf(definition);
      if (own === undefined) continue;
      claim(definition);
      const at = report(`${entity.name}.${field}`);
      if (plans.has(entity.name)) at("an entity has one slug; remove the other slug() field");
      checkOptions(own, FIELD_OPTIONS, at);
      checkSource(entity, own.from ?? "title", at);
      plans.set(entity.name, planOf(entity, field, own, options));
    }
  }
  if (plans.size === 0) problem("slugs(): no entity has a slug() field; give one to an entity, or remove the plugin");
  return plans;
}

function planOf(entity: AnyEntity, field: string, own: SlugFieldOptions, app: Partial<SlugsOptions>): SlugPlan {
  const { separator = app.separator ?? "-", maxLength = app.maxLength ?? 80, follow = app.follow ?? false } = own;
  const transliterate = app.transliterate ?? withoutAccents;
  const fallback = entity.name.toLowerCase().slice(0, SHORTEST);
  const style = { separator, maxLength, fallback, transliterate };
  return { entity, field, from: own.from ?? "title", follow, style };
}

function checkOptions(given: object, known: readonly string[], problem: (sentence: string) => void): void {
  for (const name of Object.keys(given))
    if (!known.includes(name)) problem(`there is no option "${name}".${didYouMean(name, known)}`);
  const { separator, maxLength, follow, route } = given as Partial<SlugsOptions>;
  if (separator !== undefined && separator !== "-" && separator !== "_") problem('separator must be "-" or "_"');
  if (maxLength !== undefined && !(Number.isInteger(maxLength) && maxLength >= SHORTEST && maxLength <= LONGEST))
    problem(`maxLength must be a whole number from ${SHORTEST} to ${LONGEST}`);
  for (const [name, value] of Object.entries({ follow, route }))
    if (value !== undefined && typeof value !== "boolean") problem(`${name} must be true or false`);
}

function checkSource(entity: AnyEntity, from: string, problem: (sentence: string) => void): void {
  const source = entity.fields[from];
  if (source === undefined)
    problem(`there is no field "${from}" to make it from.${didYouMean(from, Object.keys(entity.fields))}`);
  else if (!source.kind.searchable) problem(`it is made from text, and "${from}" is ${source.kind.name}`);
  else if (isProtected(source)) problem(`it would show what is in "${from}", which not everybody may read`);
}

function isProtected({ password, encrypted, omit, readable }: FieldDefinition): boolean {
  return password !== undefined || encrypted !== undefined || omit || readable !== undefined;
}
