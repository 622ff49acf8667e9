export type {
  ActionCalls,
  ActionFields,
  ActionMeta,
  ActionTypes,
  BuiltAction,
  PlainAction,
  PlainActionContext,
} from "./action.ts";
export { ConfigurationError, isKeelsonError, KeelsonError } from "./base/keelson-error.ts";
export type { Metadata } from "./base/metadata.ts";
export { suggestMethods } from "./base/misspelt-methods.ts";
export { blindIndexOf, canHold, foreignKeyOf, newDefault, publishedFields } from "./columns.ts";
export { extendEntity } from "./define-entity.ts";
export { defineKind } from "./define-kind.ts";
export { EntityBuilder, type EntityRulesInput, entity, resolveEntity } from "./entity.ts";
export type {
  Access,
  AnyEntity,
  ColumnDefinition,
  CrossFieldContext,
  CrossFieldValidator,
  EntityDefinition,
  EntityRules,
  FieldMap,
} from "./entity-definition.ts";
export {
  bigint,
  bool,
  boolean,
  bytes,
  date,
  datetime,
  decimal,
  email,
  enums,
  float,
  int,
  json,
  jsonTyped,
  string,
  text,
  time,
  uuid,
} from "./field-constructors.ts";
export type {
  AnyField,
  EnumField,
  ExactField,
  Field,
  NumberField,
  ScalarField,
  StringField,
} from "./field-modifiers.ts";
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
export type { InferCreate, InferUpdate } from "./infer-nested.ts";
export type {
  AggregateOptions,
  ClientList,
  IncludeChoice,
  InferGroup,
  InferRecord,
  InferSelect,
  InferSort,
  InferWhere,
  ListOptions,
  NamesOf,
} from "./infer-query.ts";
export { type JsonSchema, jsonSchemaOf } from "./json-schema.ts";
export { jsonText } from "./json-text.ts";
export {
  changedText,
  composeId,
  datetimeKind,
  idParts,
  isJsonValue,
  isStorableText,
  type JsonPath,
  jsonMemberKind,
  MOST_OPEN_DIGITS,
} from "./kinds/index.ts";
export { isObject, isPlainObject } from "./kinds/is-object.ts";
export type { RuleObject } from "./kinds/kind.ts";
export {
  type Cell,
  type ColumnType,
  type FieldDefinition,
  type FieldKind,
  type FieldValidator,
  type Parsed,
  type Provider,
  plainField,
  type Stem,
} from "./kinds/kind.ts";
export { isOperator, OPERATORS, type OperandForm, type Operator, operandOf, SUFFIXES } from "./kinds/operators.ts";
export { createModel, type EntityModel, reachesOwnKind, referring } from "./model.ts";
export { firstSide, linkName, linkTableName, MAX_NAME } from "./pair-tables.ts";
export { isFreeName } from "./problems.ts";
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
  selfRef,
} from "./relation.ts";
export type { ResolvedRelation } from "./resolve-relation.ts";
export { type RuleRef, ruleName, ruleObjectsOf } from "./rule-ref.ts";
export { searchColumnOf, stemMark, storedWords, withWords, wordsOf } from "./search-words.ts";
