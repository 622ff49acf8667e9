import type { AnyEntity } from "../../entity/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { RowAccess } from "../operation/mask.ts";
import type { OperationKind } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";

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
