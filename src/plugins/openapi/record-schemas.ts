import {
  type AnyEntity,
  type ColumnDefinition,
  type FieldDefinition,
  type FieldKind,
  type JsonSchema,
  jsonSchemaOf,
  publishedFields,
  type ResolvedRelation,
} from "../../entity/index.ts";
import { isSearchable, type OperationScope, type RecordForm } from "../../gate/index.ts";
import { pascalCase } from "../../kernel/index.ts";
import { conditionsSchema } from "./condition-schemas.ts";
import { ERROR_SCHEMAS } from "./error-responses.ts";
import { exampleRecord } from "./example-record.ts";
import { nestedSchema } from "./nested-schemas.ts";

const SUFFIXES: Readonly<Record<RecordForm, string>> = {
  record: "",
  selection: "Selection",
  create: "Create",
  update: "Update",
  where: "Where",
};
const FORMS = Object.keys(SUFFIXES) as RecordForm[];

/** The relations of an entity that the reader may include. */
type RelationsOf = (entity: AnyEntity) => readonly ResolvedRelation[];

/** The schemas of records for one reader. Each is made when it is first referenced. */
export interface RecordSchemas {
  ref(entity: AnyEntity, form: RecordForm): JsonSchema;
  /** The referenced schemas, by name. */
  readonly made: Readonly<Record<string, JsonSchema>>;
}

/** @param scope the reader's scope, with final masks */
export function createRecordSchemas(scope: OperationScope, relationsOf: RelationsOf): RecordSchemas {
  const { model } = scope.app;
  const names = nameAll([...model.entities, ...model.foreign]);
  const made: Record<string, JsonSchema> = {};

  function ref(entity: AnyEntity, form: RecordForm): JsonSchema {
    const name = `${names.get(entity)}${SUFFIXES[form]}`;
    if (made[name] === undefined) {
      made[name] = {}; // the schema may refer to itself
      made[name] = make(entity, form);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function make(entity: AnyEntity, form: RecordForm): JsonSchema {
    if (form === "create" || form === "update") return sent(entity, form);
    if (form !== "where") return shown(entity, form);
    const columns = columnsOf(entity, scope.access.mask(entity).filterable);
    return conditionsSchema({ entity, columns, relations: relationsOf(entity), ref: (target) => ref(target, "where") });
  }

  function shown(entity: AnyEntity, form: "record" | "selection"): JsonSchema {
    const columns = columnsOf(entity, scope.access.mask(entity).readable);
    const needed = form === "record" ? columns.filter((column) => isAlwaysShown(scope, entity, column)) : [];
    const isId = ({ role }: ColumnDefinition): boolean => role === "id";
    return {
      type: "object",
      ...(form === "record"
        ? {}
        : { description: "With some of its fields: of another service, or for callers who may not read it." }),
      properties: {
        ...Object.fromEntries(columns.map((column) => [column.name, readable(column)])),
        ...Object.fromEntries(relationsOf(entity).map((relation) => [relation.name, related(relation)])),
        ...added(entity, relationsOf(entity)),
      },
      ...requiredNames((form === "record" ? needed : columns.filter(isId)).map(({ name }) => name)),
    };
  }

  /** The schema of related records. Another service may leave out fields of its records. */
  function related({ target, many, remote }: ResolvedRelation): JsonSchema {
    const record = ref(target, remote === undefined ? "record" : "selection");
    return many ? { type: "array", items: record } : nullable(record);
  }

  function sent(entity: AnyEntity, form: "create" | "update"): JsonSchema {
    const columns = columnsOf(entity, scope.access.mask(entity).writable);
    const own = relationsOf(entity).filter(({ remote }) => remote === undefined);
    const links = own.filter(({ type }) => type === "manyToMany");
    const nested = (relation: ResolvedRelation): JsonSchema =>
      nestedSchema(relation, form, { create: ref(relation.target, "create"), update: ref(relation.target, "update") });
    const example = form === "create" ? exampleRecord(columns, isNeeded(entity)) : {};
    return {
      type: "object",
      ...(Object.keys(example).length === 0 ? {} : { examples: [example] }),
      properties: {
        ...Object.fromEntries(columns.map((column) => [column.name, sentSchema(column)])),
        ...Object.fromEntries(links.map((relation) => [`${relation.name}Ids`, linked(relation)])),
        ...Object.fromEntries(own.map((relation) => [relation.name, nested(relation)])),
      },
      ...(form === "create" ? requiredNames(columns.filter(isNeeded(entity)).map(({ name }) => name)) : {}),
    };
  }

  function linked({ name, target }: ResolvedRelation): JsonSchema {
    const id = target.columns.id as ColumnDefinition;
    return { type: "array", items: jsonSchemaOf(id.kind), description: `Ids of all of ${name}.` };
  }

  return { ref, made };
}

function columnsOf(entity: AnyEntity, names: ReadonlySet<string>): readonly ColumnDefinition[] {
  return Object.values(entity.columns).filter(({ name }) => names.has(name));
}

/** Whether all records show a column. Columns that depend on the record or the caller may be missing. */
function isAlwaysShown(scope: OperationScope, entity: AnyEntity, { name, field }: ColumnDefinition): boolean {
  const { readablePerRow } = scope.access.mask(entity);
  return readablePerRow?.has(name) !== true && (scope.principal.kind !== "system" || field?.readable === undefined);
}

function readable(column: ColumnDefinition): JsonSchema {
  const isKept = column.role !== "field" && column.role !== "foreignKey";
  return { ...shownSchema(column), ...(isKept || column.field?.readonly === true ? { readOnly: true } : {}) };
}

/**
 * Whether a record cannot be created without the column. The owner may be left out, because the caller becomes the
 * owner.
 */
function isNeeded({ ownedBy }: AnyEntity): (column: ColumnDefinition) => boolean {
  return ({ optional, field, relation }) =>
    !optional && field?.default === undefined && (relation === undefined || relation !== ownedBy);
}

/** Unique names for the schemas of all entities. */
function nameAll(entities: readonly AnyEntity[]): ReadonlyMap<AnyEntity, string> {
  const taken = new Set(Object.keys(ERROR_SCHEMAS));
  const names = new Map<AnyEntity, string>();
  for (const entity of entities) {
    let name = pascalCase(entity.name);
    while (FORMS.some((form) => taken.has(name + SUFFIXES[form]))) name += "Entity";
    for (const form of FORMS) taken.add(name + SUFFIXES[form]);
    names.set(entity, name);
  }
  return names;
}

/** A value that is described. */
interface DescribedValue {
  readonly kind: FieldKind;
  /** Undefined for values that Keelson maintains: ids, keys, timestamps. */
  readonly field?: FieldDefinition | undefined;
  readonly optional: boolean;
}

/** The schema of a value in responses. */
function shownSchema({ kind, field, optional }: DescribedValue): JsonSchema {
  return { ...nullable(jsonSchemaOf(kind, field), optional), ...annotations(kind, field) };
}

/** The schema of a value in requests. */
function sentSchema({ kind, field, optional }: DescribedValue): JsonSchema {
  return {
    ...nullable(jsonSchemaOf(kind, field), optional),
    ...annotations(kind, field),
    ...defaultOf(kind, field),
    ...(field?.password === undefined ? {} : { writeOnly: true }),
  };
}

/** The schema of an object with these fields. */
export function fieldsSchema(fields: Readonly<Record<string, FieldDefinition>>, side: "input" | "output"): JsonSchema {
  const schema = side === "input" ? sentSchema : shownSchema;
  const entries = Object.entries(fields);
  const properties = entries.map(([name, field]) => {
    const { kind, optional } = field;
    return [name, schema({ kind, field, optional })] as const;
  });
  const needed = entries.filter(([, { optional, default: given }]) => side === "output" || (!optional && !given));
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...requiredNames(needed.map(([name]) => name)),
    ...(side === "input" ? { additionalProperties: false } : {}),
  };
}

/** Leaves out an empty list, because some tools refuse it. */
function requiredNames(names: readonly string[]): { readonly required?: readonly string[] } {
  return names.length === 0 ? {} : { required: names };
}

/** Adds null to a schema. */
function nullable(schema: JsonSchema, optional = true): JsonSchema {
  if (!optional || Object.keys(schema).length === 0) return schema; // an empty schema accepts null already
  const { type, enum: words } = schema;
  if (typeof type !== "string") return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [type, "null"], ...(Array.isArray(words) ? { enum: [...words, null] } : {}) };
}

function annotations(kind: FieldKind, { description, example }: Partial<FieldDefinition> = {}): JsonSchema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [toWire(kind, example)] }),
  };
}

/** A literal default, unless the field is protected. */
function defaultOf(kind: FieldKind, field: FieldDefinition | undefined): JsonSchema {
  const given = field && publishedFields({ field }).field?.default;
  return given !== undefined && "value" in given ? { default: toWire(kind, given.value) } : {};
}

function toWire(kind: FieldKind, value: unknown): unknown {
  return value === null ? null : (kind.toWire?.(value) ?? value);
}

/** Members that queries add to records: counts of related records, and highlighted search results. */
function added(entity: AnyEntity, relations: readonly ResolvedRelation[]): Record<string, JsonSchema> {
  const counted = relations.filter(({ many, remote }) => many && remote === undefined);
  const numbers = Object.fromEntries(counted.map(({ name }) => [name, { type: "integer", minimum: 0 }]));
  const words = Object.keys(entity.fields).filter((name) => entity.fields[name]?.search !== undefined);
  const excerpts = Object.fromEntries(words.map((name) => [name, { type: "string" }]));
  return {
    ...(counted.length === 0 ? {} : { _count: { type: "object", properties: numbers } }),
    ...(isSearchable(entity) ? { _highlights: { type: "object", properties: excerpts } } : {}),
  };
}
