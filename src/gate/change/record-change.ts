import type { AnyEntity } from "../../entity/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { Driver } from "../statement/driver-port.ts";

/** What happened to a record. */
export type ChangeKind = "create" | "update" | "delete" | "link" | "unlink";

/** The caller, request and time of a change. */
export interface ChangeCause {
  /** Undefined for services of the whole app, which have no caller. */
  readonly principal: Principal | undefined;
  readonly requestId: string | undefined;
  /** The action of the route; undefined for work that no route started. */
  readonly action: string | undefined;
  /** The time of the app's clock. */
  readonly at: Date;
}

/**
 * One change to one record, as stored and without field masks: passwords are hashes, encrypted fields are plain text. A
 * listener that passes values on must apply the field mask of the caller who receives them.
 */
export interface RecordChange {
  readonly entity: AnyEntity;
  readonly kind: ChangeKind;
  readonly id: string;
  /**
   * The record before the change; null for a create. For `unlink`: the ids that were removed, under the relation's
   * name.
   */
  readonly before: Row | null;
  /** The record after the change; null for a delete. For `link`: the ids that were added, under the relation's name. */
  readonly after: Row | null;
  /** The manyToMany relation; for `link` and `unlink`, reported for the side that was written. */
  readonly relation?: string | undefined;
  readonly cause: ChangeCause;
}

/**
 * Receives changes to records of one entity.
 * @param driver the transaction's driver; writes made with it are not reported again
 */
export type ChangeListener = (changes: readonly RecordChange[], driver: Driver) => void | Promise<void>;

/** Receives the changes of a transaction once it has committed. */
export type CommittedListener = (changes: readonly RecordChange[]) => void | Promise<void>;

/** Which changes a listener receives. */
export interface ChangeOptions {
  /** Called once per entity when the app starts. @default all entities that are not internal */
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
