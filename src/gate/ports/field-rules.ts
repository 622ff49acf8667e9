import type { AnyEntity, FieldDefinition } from "../../entity/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { RowAccess } from "../operation/mask.ts";
import type { OperationKind } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { Route } from "../operation/route.ts";

/** Who asks about a field, and for what. */
export interface FieldQuestion {
  readonly kind: Extract<OperationKind, "read" | "create" | "update">;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  readonly scope: OperationScope;
  /** Set when a rule asks for more than who the caller is, and so may say something else of the next record. */
  apart?: boolean | undefined;
}

/** Whether a field is the caller's: on all records, on none, or on some. Without a promise where no rule makes one. */
export type AskField = (question: FieldQuestion) => boolean | RowAccess | Promise<boolean | RowAccess>;

/** The service `rules.fields`: rules by name, made ready to decide about fields. */
export interface FieldRules {
  /**
   * @param names any of them passes
   * @param at where they are written down, for the start-up report on those that cannot work
   */
  compile(names: readonly string[], entity: AnyEntity, at: string): AskField;
}

/** Reads values of some fields, and completes them with defaults and nulls. */
export interface FieldReader {
  /** @throws ValidationFailedError, BadRequestError for what is no object */
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

/** The service `rules.lists`: lists of rules that stand beside those of entities, such as an action's own. */
export interface RuleLists {
  /**
   * Makes a list ready for operations that carry it as `rules`, and reports names that cannot work.
   * @param names any of them passes; the same array is what operations carry
   * @param at where they are written down
   */
  compile(names: readonly string[], entity: AnyEntity, at: string): void;
}

/** The service `rules.routes`: whether the rules of a route itself let a caller use it. */
export interface RouteRules {
  allow(route: Route, scope: OperationScope): Promise<boolean>;
}
