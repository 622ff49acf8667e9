import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import type { AskField, FieldMask, FieldQuestion, FieldRules, MaskDraft, RowAccess } from "../../../gate/index.ts";

/** A field with its own rules, compiled. */
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

/** Whether any field of an app has its own rules. */
export function hasFieldRules(model: EntityModel): boolean {
  return [...model.entities, ...model.foreign].some(({ fields }) =>
    Object.values(fields).some(({ readable, writable }) => readable ?? writable),
  );
}

/** @param isForeign whether another service owns the records, so that this app does not write them */
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

/** `undefined` until the rules have decided, which counts as no. */
type Answer = boolean | RowAccess | undefined;

interface Answers {
  readonly field: RuledField;
  read: Answer;
  create: Answer;
  update: Answer;
}

/**
 * Narrows a mask by the rules of single fields. Fields that no rule allows are removed; fields that depend on the
 * record stay, with their condition. An asynchronous rule keeps its field closed until it has decided.
 */
export function narrowMask(fields: readonly RuledField[], draft: MaskDraft): void | Promise<void> {
  const { principal, scope, entity, mask: widest } = draft;
  if (principal.kind === "system") return;
  const waiting: Promise<void>[] = [];
  const ask = (rule: AskField | undefined, kind: FieldQuestion["kind"], settle: (answer: Answer) => void): void => {
    const answer = rule === undefined || rule({ kind, entity, principal, scope });
    if (answer instanceof Promise) waiting.push(answer.then(settle));
    else settle(answer);
  };
  const answers = fields.map((field): Answers => {
    const found: Answers = { field, read: undefined, create: undefined, update: undefined };
    for (const kind of ["read", "create", "update"] as const)
      ask(kind === "read" ? field.readable : field.writable, kind, (answer) => {
        found[kind] = answer;
      });
    return found;
  });
  draft.mask = maskOf(widest, answers);
  if (waiting.length === 0) return;
  return Promise.all(waiting).then(() => {
    draft.mask = maskOf(widest, answers);
  });
}

/** Access to no record. */
const NONE: RowAccess = Object.freeze({ predicate: undefined, guard: undefined });

function maskOf(widest: FieldMask, answers: readonly Answers[]): FieldMask {
  const readable = new Set(widest.readable);
  const writable = new Set(widest.writable);
  const filterable = new Set(widest.filterable);
  const sortable = new Set(widest.sortable);
  const perRow = new Map<string, RowAccess>();
  const writablePerRow = new Map<string, RowAccess>();
  for (const { field, read, create, update } of answers) {
    const { name } = field;
    // An operation checks the rules for its own kind. Here it only counts whether any kind may write the field.
    if (!create && !update) writable.delete(name);
    // An update reads existing records: a caller who may only write the field of new records may not write it there.
    if (field.writable !== undefined && update !== true && writable.has(name)) writablePerRow.set(name, update || NONE);
    if (read === true) continue;
    sortable.delete(name);
    if (!read) readable.delete(name);
    // A condition on such a field is combined with the condition of its rule. Without one, the field cannot be filtered
    // by.
    if (!read || read.guard !== undefined) filterable.delete(name);
    if (read && readable.has(name)) perRow.set(name, read);
  }
  return Object.freeze({
    readable,
    writable,
    filterable,
    sortable,
    readablePerRow: perRow.size === 0 ? undefined : perRow,
    writablePerRow: writablePerRow.size === 0 ? undefined : writablePerRow,
  });
}
