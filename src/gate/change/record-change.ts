import type { AnyEntity } from "../../entity/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { Driver } from "../statement/driver-port.ts";

/** What happened to a record. */
export type ChangeKind = "create" | "update" | "delete" | "link" | "unlink";

/** On whose behalf a record was changed. */
export interface ChangeCause {
  /** Undefined for services of the whole app, which act for no caller. */
  readonly principal: Principal | undefined;
  readonly requestId: string | undefined;
  /** The action of the route; undefined for work in the process. */
  readonly action: string | undefined;
  /** The app's time. */
  readonly at: Date;
}

/**
 * One change of one record, as it is stored, without masks: passwords are hashes, encrypted fields are plain text. A
 * listener that passes values on must apply the mask of the caller who receives them.
 */
export interface RecordChange {
  readonly entity: AnyEntity;
  readonly kind: ChangeKind;
  readonly id: string;
  /** The record before the change; null for a create. For pairs: the ids that were removed, under the relation's name. */
  readonly before: Row | null;
  /** The record after the change; null for a delete. For pairs: the ids that were added, under the relation's name. */
  readonly after: Row | null;
  /** The manyToMany relation; for `link` and `unlink`, reported for the side that was written. */
  readonly relation?: string | undefined;
  readonly cause: ChangeCause;
}

/**
 * Receives changes of one entity.
 * @param driver of the transaction; writes made with it are not reported again
 */
export type ChangeListener = (changes: readonly RecordChange[], driver: Driver) => void | Promise<void>;

/** Receives the changes of a transaction once it has committed. */
export type CommittedListener = (changes: readonly RecordChange[]) => void | Promise<void>;

/** Which changes a listener receives. */
export interface ChangeOptions {
  /** Called once per entity when the app starts. @default all that are not internal */
  readonly appliesTo?: ((entity: AnyEntity) => boolean) | undefined;
}

export function causeOf(scope: OperationScope | undefined): ChangeCause {
  return {
    principal: scope?.principal,
    requestId: scope?.requestId,
    action: scope?.exchange?.route?.action,
    at: scope?.app.now() ?? new Date(),
  };
}
