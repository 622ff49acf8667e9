export type {
  ActionCall,
  ActionCalls,
  ActionDriver,
  ActionFields,
  ActionLike,
  ActionMeta,
  ActionTypes,
  BuiltAction,
  PlainAction,
  PlainActionContext,
} from "./action.ts";
export { canHold } from "./can-hold.ts";
export { blindIndexOf, columnsOf, foreignKeyOf } from "./columns.ts";
export { type CrossFieldOptions, EntityBuilder, type EntityRulesInput, entity, resolveEntity } from "./entity.ts";
export type {
  Access,
  AnyEntity,
  ColumnDefinition,
  ColumnRole,
  CrossFieldContext,
  CrossFieldValidator,
  EntityDefinition,
  EntityRules,
  FieldMap,
} from "./entity-definition.ts";
export {
  type AnyField,
  bool,
  boolean,
  datetime,
  email,
  enums,
  type Field,
  type FieldFlag,
  float,
  int,
  json,
  jsonTyped,
  type NumberField,
  type StringField,
  string,
  text,
} from "./field.ts";
export type {
  $Infer,
  DefinitionOf,
  EntityNamesOf,
  EntityOf,
  InferAll,
  InferCreateInput,
  InferEntityData,
  InferFieldInput,
  InferFieldValues,
  InferUpdateInput,
  IsVersioned,
  RelatedData,
  RelationNames,
} from "./infer.ts";
export type { InferInclude, InferRecord, InferSelect, InferSort, InferWhere } from "./infer-query.ts";
export { type JsonSchema, jsonSchemaOf } from "./json-schema.ts";
export { ConfigurationError, isKeelsonError, KeelsonError, type KeelsonErrorOptions } from "./keelson-error.ts";
export type { RuleObject } from "./kinds/field-definition.ts";
export { type Bound, type FieldDefinition, type FieldValidator, plainField } from "./kinds/field-definition.ts";
export { isJsonValue } from "./kinds/index.ts";
export {
  type Cell,
  type ColumnType,
  type FieldKind,
  OPERATORS,
  type Operator,
  type Parsed,
  type Provider,
} from "./kinds/kind.ts";
export type { ClientList, ListOptions } from "./list-options.ts";
export { createModel, type EntityModel } from "./model.ts";
export { newDefault } from "./new-default.ts";
export { publishedFields } from "./published-fields.ts";
export { reachesOwnKind } from "./reaches-own-kind.ts";
export {
  type AnyRelation,
  belongsTo,
  type EntityLike,
  hasMany,
  hasOne,
  manyToMany,
  type OnDelete,
  type Relation,
  type RelationDefinition,
  type RelationFlag,
  type RelationType,
  selfRef,
} from "./relation.ts";
export type { ResolvedRelation } from "./resolve-relation.ts";
export { type RuleRef, ruleName, ruleObjectsOf } from "./rule-ref.ts";
