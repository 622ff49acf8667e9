import type { AnyEntity, FieldDefinition } from "../../entity/index.ts";
import { type Principal, type ServiceToken, token } from "../../kernel/index.ts";
import type { RowAccess } from "../operation/mask.ts";
import type { OperationKind } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";

/** Who wants to use a field, and how. */
export interface FieldQuestion {
  readonly kind: Extract<OperationKind, "read" | "create" | "update">;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  readonly scope: OperationScope;
  /** Set when a rule looks at more than the caller, so its decision may differ for the next record. */
  apart?: boolean | undefined;
}

/** Whether the caller may use a field: on all records, never, or on some. A promise only where a rule returns one. */
export type AskField = (question: FieldQuestion) => boolean | RowAccess | Promise<boolean | RowAccess>;

/** The service `rules.fields`: rules by name, compiled to decide about fields. */
export interface FieldRules {
  /**
   * @param names any of them passes
   * @param at where they are written down, for the start-up report on those that cannot work
   */
  compile(names: readonly string[], entity: AnyEntity, at: string): AskField;
}

/** The token of FieldRules. */
export const FieldRules: ServiceToken<FieldRules> = token("rules.fields");

/** Reads values of some fields, and completes them with defaults and nulls. */
export interface FieldReader {
  /** @throws ValidationFailedError; BadRequestError for a value that is not an object */
  fromObject(value: unknown): Record<string, unknown>;
  /**
   * @param search raw query string without `?`
   * @param limit parameters at most
   * @throws BadRequestError
   */
  fromQuery(search: string, limit: number): Record<string, unknown>;
}

/** The service `validation.fields`: fields outside entities, checked as those of records are. */
export interface FieldChecks {
  /** @param fields by name */
  compile(fields: Readonly<Record<string, FieldDefinition>>): FieldReader;
}

/** The token of FieldChecks. */
export const FieldChecks: ServiceToken<FieldChecks> = token("validation.fields");

/** The service `rules.lists`: lists of rules besides those of entities, such as an action's own. */
export interface RuleLists {
  /**
   * Compiles a list for operations that carry it as `rules`, and reports unknown names.
   * @param names any of them passes; the same array is what operations carry
   * @param at where they are written down
   */
  compile(names: readonly string[], entity: AnyEntity, at: string): void;
}

/** The token of RuleLists. */
export const RuleLists: ServiceToken<RuleLists> = token("rules.lists");
