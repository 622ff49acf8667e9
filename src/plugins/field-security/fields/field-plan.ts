import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import type { AskField, FieldRules } from "../../../gate/index.ts";

/** A field with rules of its own, ready to be asked. */
export interface RuledField {
  readonly name: string;
  readonly readable: AskField | undefined;
  readonly writable: AskField | undefined;
}

/** Compiles `.readable()` and `.writable()` of all fields, by entity; entities without them are absent. */
export function compileFieldPlans(
  model: EntityModel,
  rules: FieldRules,
): ReadonlyMap<AnyEntity, readonly RuledField[]> {
  const plans = new Map<AnyEntity, readonly RuledField[]>();
  for (const entity of [...model.entities, ...model.foreign]) {
    const ruled = ruledFields(entity, rules, model.foreign.includes(entity));
    if (ruled.length > 0) plans.set(entity, ruled);
  }
  return plans;
}

/** Whether some field of an app has rules of its own. */
export function hasFieldRules(model: EntityModel): boolean {
  return [...model.entities, ...model.foreign].some(({ fields }) =>
    Object.values(fields).some(({ readable, writable }) => readable ?? writable),
  );
}

/** @param isForeign whether another service keeps the records: nobody here writes them */
function ruledFields(entity: AnyEntity, rules: FieldRules, isForeign: boolean): RuledField[] {
  return Object.entries(entity.fields).flatMap(([name, { readable, writable: written }]) => {
    const writable = isForeign ? undefined : written;
    if (readable === undefined && writable === undefined) return [];
    const at = `${entity.name}.${name}`;
    return {
      name,
      readable: readable && rules.compile(readable, entity, `${at}.readable`),
      writable: writable && rules.compile(writable, entity, `${at}.writable`),
    };
  });
}
