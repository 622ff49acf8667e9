import { type ColumnDefinition, type JsonSchema, jsonSchemaOf, type ResolvedRelation } from "../../entity/index.ts";

/** Schemas for creating and updating related records. */
interface Forms {
  readonly create: JsonSchema;
  readonly update: JsonSchema;
}

/** The schema of nested writes under a relation's name. @param form the form of the surrounding body */
export function nestedSchema(relation: ResolvedRelation, form: "create" | "update", forms: Forms): JsonSchema {
  const { type, many, target } = relation;
  const id = jsonSchemaOf((target.columns.id as ColumnDefinition).kind);
  const each = (schema: JsonSchema): JsonSchema => (many ? { type: "array", items: schema } : schema);
  const added = {
    create: each(forms.create),
    connect: each(id),
    connectOrCreate: each(whereSchema({ create: forms.create })),
  };
  const removed = { disconnect: many ? each(id) : { const: true } };
  const changes = many
    ? { allOf: [forms.update, { type: "object", properties: { id }, required: ["id"] }] }
    : forms.update;
  const stored = {
    ...(type === "manyToMany" ? {} : { update: each(changes) }),
    ...(type === "hasMany"
      ? { upsert: each(whereSchema({ create: forms.create, update: forms.update })), delete: each(id) }
      : {}),
    ...(type === "hasOne" ? { delete: { const: true } } : {}),
    ...(many ? { set: each(id) } : {}),
  };
  return {
    type: "object",
    description: `What is done to ${relation.name}, all or nothing with the rest.`,
    properties: form === "create" ? added : { ...added, ...removed, ...stored },
  };
}

function whereSchema(forms: Partial<Forms>): JsonSchema {
  const properties = { where: { type: "object" }, ...forms };
  return { type: "object", properties, required: Object.keys(properties) };
}
