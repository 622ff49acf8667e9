import { blindIndexOf, foreignKeyOf } from "./columns.ts";
import type { AnyEntity, ColumnDefinition } from "./entity-definition.ts";
import type { FieldDefinition, RuleObject } from "./kinds/kind.ts";
import type { RelationDefinition } from "./relation.ts";
import { searchColumnOf } from "./search-words.ts";

type Members = readonly (readonly [string, FieldDefinition | RelationDefinition])[];

const NAME = /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*$/;
const RESERVED = new Set([
  "include",
  "select",
  "q",
  "format",
  "constructor",
  "prototype",
  "id",
  "createdAt",
  "updatedAt",
  "version",
  // Keywords of the `where` language, and of the ORM, which treats them as operators.
  "AND",
  "OR",
  "NOT",
  "not",
]);
const ACCESSES = ["create", "read", "update", "delete"];

function boundProblems(at: string, { min, max, length }: FieldDefinition): string[] {
  const problems: string[] = [];
  for (const [name, bound] of Object.entries({ min, max, length }))
    if (bound !== undefined && !Number.isFinite(bound.value)) problems.push(`${at}: .${name}() takes a finite number`);
  if (min && max && min.value > max.value)
    problems.push(`${at}: .min(${min.value}) is greater than .max(${max.value})`);
  if (length && ((min && length.value < min.value) || (max && length.value > max.value)))
    problems.push(`${at}: no value has .length(${length.value}) and fits .min() and .max() as well`);
  return problems;
}

function fieldProblems(at: string, field: FieldDefinition): string[] {
  const problems = boundProblems(at, field);
  if (field.password && field.encrypted)
    problems.push(`${at}: a field is hashed (.password()) or encrypted (.encrypted()), not both`);
  const changes = field.changes.map((change) => `.${change}()`);
  if (field.password && changes.length > 0)
    problems.push(`${at}: a password is taken exactly as submitted; remove ${changes.join(" and ")}`);
  if (field.password && field.unique)
    problems.push(`${at}: a password cannot be .unique(): equal passwords have different hashes`);
  if (field.encrypted && field.unique && !field.encrypted.searchable)
    problems.push(`${at}: .unique() on an encrypted field needs .encrypted({ searchable: true })`);
  if (field.encrypted?.searchable && field.kind.item !== undefined)
    problems.push(`${at}: an encrypted array cannot be searched; remove "searchable"`);
  if (field.search !== undefined) {
    const { weight, stem } = field.search;
    if (!(Number.isInteger(weight) && weight >= 1 && weight <= 1_000))
      problems.push(`${at}: the weight of .searchable() is a whole number from 1 to 1000`);
    if (stem !== undefined && typeof stem !== "function")
      problems.push(`${at}: the stem of .searchable() is a function that takes a word and gives its stem`);
    if (field.encrypted ?? field.password ?? (field.omit || undefined))
      problems.push(`${at}: .searchable() would store the words of a protected field in clear; remove one of the two`);
  }
  if (field.unique && !field.kind.sortable) problems.push(`${at}: a ${field.kind.name} field cannot be .unique()`);
  return problems;
}

function relationProblems(at: string, { type, optional, onDelete }: RelationDefinition): string[] {
  if (onDelete === undefined) return [];
  if (type !== "belongsTo") return [`${at}: .onDelete() belongs to the side with the key (belongsTo)`];
  if (onDelete === "setNull" && !optional) return [`${at}: .onDelete("setNull") needs .optional()`];
  return [];
}

function nameProblem(at: string, name: string): string | undefined {
  if (name.startsWith("_")) return `${at}: names that begin with "_" are reserved`;
  if (RESERVED.has(name)) return `${at}: "${name}" is a reserved name`;
  if (!NAME.test(name)) return `${at}: a name is letters, digits and single underscores, beginning with a letter`;
  return undefined;
}

/** Whether a name can be used for a field or a relation. */
export function isFreeName(name: string): boolean {
  return nameProblem("", name) === undefined;
}

/** The names that a member uses in records and bodies, starting with its own. */
function namesOf(name: string, member: FieldDefinition | RelationDefinition): string[] {
  if ("kind" in member)
    return [
      name,
      ...(member.encrypted?.searchable ? [blindIndexOf(name)] : []),
      ...(member.search ? [searchColumnOf(name)] : []),
    ];
  if (member.type === "belongsTo") return [name, foreignKeyOf(name, member)];
  return member.type === "manyToMany" ? [name, `${name}Ids`] : [name];
}

function indexProblems(entity: AnyEntity): string[] {
  const problems: string[] = [];
  for (const columns of [...entity.indexes, ...entity.uniques]) {
    if (columns.length === 0) problems.push(`${entity.name}: an index needs at least one column`);
    for (const name of columns) {
      const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
      if (column === undefined)
        problems.push(
          `${entity.name}: an index names "${name}", which is not a column; foreign keys go by their own name (authorId)`,
        );
      else if (!column.kind.sortable)
        problems.push(`${entity.name}: a ${column.kind.name} field cannot be indexed (${name})`);
    }
  }
  return problems;
}

/** Reports different rules with the same name in one definition. */
function ruleProblems(entity: AnyEntity, objects: readonly RuleObject[]): string[] {
  const doubled = objects.filter((rule) => entity.ruleObjects[rule.name] !== rule).map(({ name }) => name);
  return [...new Set(doubled)].map((name) => `${entity.name}: two different rules are called "${name}"`);
}

/** Reports renames from columns that still exist. */
function renameProblems({ name, renamedFrom, columns, relations }: AnyEntity, members: Members): string[] {
  const problems: string[] = [];
  if (renamedFrom === name) problems.push(`${name}: .renamedFrom("${name}") is its current name`);
  else if (renamedFrom !== undefined && !NAME.test(renamedFrom))
    problems.push(`${name}.renamedFrom("${renamedFrom}"): a name is letters, digits and single underscores`);
  const takers = new Map<string, string>();
  for (const [member, { renamedFrom: old }] of members) {
    if (old === undefined) continue;
    const at = `${name}.${member}.renamedFrom("${old}")`;
    const taker = takers.get(old);
    takers.set(old, member);
    if (Object.hasOwn(columns, old) || Object.hasOwn(relations, old))
      problems.push(`${at}: ${name} still has "${old}"; only a name that is gone can be renamed`);
    else if (taker !== undefined) problems.push(`${at}: ${name}.${taker} is renamed from it already`);
    else if (!NAME.test(old)) problems.push(`${at}: a name is letters, digits and single underscores`);
  }
  return problems;
}

/** Types whose values have the same text in every database. */
const PARTS: ReadonlySet<string> = new Set(["String", "Int", "BigInt", "Uuid", "Date", "Enum"]);

/** Reports problems of composite ids, whose columns every record must have. */
function idProblems({ name, columns }: AnyEntity): string[] {
  const { parts } = columns.id as ColumnDefinition;
  if (parts === undefined) return [];
  const at = `${name}.id([${parts.map((part) => `"${part.name}"`).join(", ")}])`;
  if (parts.length < 2) return [`${at}: such an id has two parts at least`];
  const unfit = parts.filter(({ optional, kind, role }) => optional || role === "id" || !PARTS.has(kind.column.scalar));
  const hidden = parts.filter(
    ({ field }) => field?.readable !== undefined || field?.omit || field?.password || field?.encrypted,
  );
  return [
    ...unfit.map(
      (part) => `${at}: "${part.name}" must be a required text, whole number, UUID, date, enum or foreign key`,
    ),
    ...hidden.map((part) => `${at}: "${part.name}" is hidden from some callers, and every id would show it`),
  ];
}

/** Reports problems of table and column names. */
function storageProblems({ name, table, existing, columns }: AnyEntity): string[] {
  const problems: string[] = [];
  if (table?.schema !== undefined && !existing)
    problems.push(`${name}.table("${table.name}"): a table in another schema is made by others; add .existing()`);
  for (const { of } of existing ? Object.values(columns).filter(({ role }) => role === "words") : [])
    problems.push(
      `${name}.${of}: .searchable() keeps words in a column of its own, which .existing() tables do not get`,
    );
  if (table?.name === "") problems.push(`${name}.table(): the name of the table is empty`);
  const taken = new Map<string, string>();
  for (const column of Object.values(columns)) {
    if (column.parts !== undefined) continue; // not stored
    const other = taken.get(column.stored);
    if (column.stored === "" && column.name !== "")
      problems.push(`${name}.${column.name}.column(): the name of the column is empty`);
    if (other !== undefined)
      problems.push(`${name}: "${other}" and "${column.name}" have the same column "${column.stored}"`);
    taken.set(column.stored, column.name);
  }
  return problems;
}

function softDeleteProblems({ name, fields, softDelete }: AnyEntity): string[] {
  if (softDelete === undefined) return [];
  const at = `${name}.softDelete("${softDelete.field}")`;
  const field = Object.hasOwn(fields, softDelete.field) ? fields[softDelete.field] : undefined;
  if (field?.kind.name !== "datetime" || !field.optional || field.encrypted)
    return [`${at} needs a field ${softDelete.field}: datetime.optional(), not encrypted`];
  return field.default === undefined ? [] : [`${at}: a field with a default would delete records as they are made`];
}

/** All problems of one definition; relations to other entities are checked when the app starts. */
export function problemsOf(entity: AnyEntity, members: Members, ruleObjects: readonly RuleObject[]): string[] {
  const problems: string[] = [];
  if (!NAME.test(entity.name))
    problems.push(`entity "${entity.name}": a name is letters, digits and single underscores, beginning with a letter`);
  const taken = new Map<string, string>();
  for (const [name, member] of members) {
    const at = `${entity.name}.${name}`;
    problems.push(...("kind" in member ? fieldProblems(at, member) : relationProblems(at, member)));
    for (const key of namesOf(name, member)) {
      const problem = nameProblem(at, key);
      if (problem) problems.push(problem);
      const owner = taken.get(key);
      if (owner !== undefined) problems.push(`${at}: the name "${key}" is already used by ${entity.name}.${owner}`);
      taken.set(key, name);
    }
  }
  if (entity.ownedBy !== undefined && entity.ownedBy !== "id" && entity.relations[entity.ownedBy]?.type !== "belongsTo")
    problems.push(`${entity.name}: .ownedBy("${entity.ownedBy}") must name a belongsTo relation, or "id"`);
  for (const access of Object.keys(entity.rules ?? {}))
    if (!ACCESSES.includes(access))
      problems.push(`${entity.name}: .rules() has no access "${access}"; there are ${ACCESSES.join(", ")}`);
  problems.push(...ruleProblems(entity, ruleObjects), ...indexProblems(entity), ...softDeleteProblems(entity));
  problems.push(...renameProblems(entity, members), ...storageProblems(entity), ...idProblems(entity));
  return problems;
}
