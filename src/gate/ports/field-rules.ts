import type { AnyEntity, FieldDefinition } from "../../entity/index.ts";
import { type Principal, type ServiceToken, token } from "../../kernel/index.ts";
import type { RowAccess } from "../operation/mask.ts";
import type { OperationKind } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";

/** The caller, the entity and the kind of use of a field. */
export interface FieldQuestion {
  readonly kind: Extract<OperationKind, "read" | "create" | "update">;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  readonly scope: OperationScope;
  /** Set when a rule depends on more than the caller, so that its decision may differ for the next record. */
  apart?: boolean | undefined;
}

/**
 * Decides whether the caller may use a field: on all records, on none, or on some. Returns a promise only if a rule
 * does.
 */
export type AskField = (question: FieldQuestion) => boolean | RowAccess | Promise<boolean | RowAccess>;

/** The service `rules.fields`: compiles rules by name to decide on fields. */
export interface FieldRules {
  /**
   * @param names the rules, of which one must pass
   * @param at where they are declared, for the start-up report on rules that cannot work
   */
  compile(names: readonly string[], entity: AnyEntity, at: string): AskField;
}

/** The token of FieldRules. */
export const FieldRules: ServiceToken<FieldRules> = token("rules.fields");

/** Parses values of fields and fills in defaults and nulls. */
export interface FieldReader {
  /** @throws ValidationFailedError; BadRequestError for a value that is not an object */
  fromObject(value: unknown): Record<string, unknown>;
  /**
   * @param search raw query string without `?`
   * @param limit the maximum number of parameters
   * @throws BadRequestError
   */
  fromQuery(search: string, limit: number): Record<string, unknown>;
}

/** The service `validation.fields`: checks fields outside entities like fields of records. */
export interface FieldChecks {
  /** @param fields by name */
  compile(fields: Readonly<Record<string, FieldDefinition>>): FieldReader;
}

/** The token of FieldChecks. */
export const FieldChecks: ServiceToken<FieldChecks> = token("validation.fields");

/** The service `rules.lists`: lists of rules outside entities, such as an action's own. */
export interface RuleLists {
  /**
   * Compiles a list of rules for operations that have it as `rules`, and reports unknown names.
   * @param names the rules, of which one must pass; operations must use the same array
   * @param at where they are declared
   */
  compile(names: readonly string[], entity: AnyEntity, at: string): void;
}

/** The token of RuleLists. */
export const RuleLists: ServiceToken<RuleLists> = token("rules.lists");
