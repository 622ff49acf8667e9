import type { AnyEntity } from "../../entity/index.ts";
import {
  KERNEL_HOOKS,
  type KernelHookOptions,
  type KernelHooks,
  type KernelRequestEvent,
  type KernelResponse,
  type KernelResponseEvent,
  type KernelRouteAuthorization,
  type Principal,
} from "../../kernel/index.ts";
import type { FieldMask } from "./mask.ts";
import type { Operation, OperationKind } from "./operation.ts";
import type { OperationScope } from "./operation-scope.ts";
import type { Route, RouteContext } from "./route.ts";

/** A request that the kernel processes. */
export interface RequestEvent extends KernelRequestEvent {
  readonly route: Route;
}

/** An outgoing response; `route` and `params` are undefined when no route matched. */
export interface ResponseEvent extends KernelResponseEvent {
  readonly route: Route | undefined;
}

/** A request whose route and caller are known. */
export interface RouteCall extends RouteContext {
  /**
   * Checks the route's own rules, runs its handler, and makes a response of the result in the given scope: the call's,
   * or one of its transactions. A hook may replace this function with its own, which may call the previous one; the
   * function of the last plugin runs first.
   */
  respond: (scope: OperationScope) => Promise<KernelResponse>;
}

/** Decides whether the caller may use the route. Denied until a hook sets `allowed`. */
export interface RouteAuthorization extends KernelRouteAuthorization {
  readonly route: Route;
  readonly scope: OperationScope;
}

/** The caller's field mask under construction. It starts with the widest mask of the entity. */
export interface MaskDraft {
  readonly entity: AnyEntity;
  readonly principal: Principal;
  readonly scope: OperationScope;
  mask: FieldMask;
}

/** All hooks of the kernel and the gate, with the payload of their functions. */
export interface HookMap extends KernelHooks {
  "request:start": RequestEvent;
  "request:end": ResponseEvent;
  "route:around": RouteCall;
  "route:authorize": RouteAuthorization;
  /**
   * Narrows the fields that a caller may read, write, filter and sort on; called once per scope and entity. An
   * asynchronous hook must first remove the fields it has not decided on: that mask applies until its promise settles.
   */
  "access:mask": MaskDraft;
  /** Allows or denies the operation, or narrows it to a predicate. Runs before the input is read. */
  "operation:authorize": Operation;
  /**
   * Restricts with `require` which records exist for an operation, for reasons other than rules, such as soft deletion.
   * Applies to the system, too. Runs when the query is known; not for create.
   */
  "operation:narrow": Operation;
  /**
   * Runs for lists once the query is known and restricted to the fields that the caller may filter on. Sets the related
   * records that the statement reads (`joins`).
   */
  "operation:plan": Operation;
  /** Create and update: drops fields that the caller may not write, trims texts and sets defaults. */
  "operation:normalize": Operation;
  /** Create and update: checks values, cross-field rules and references. */
  "operation:validate": Operation;
  /** Create and update: replaces valid data with the stored form, such as hashes. Runs before any transaction. */
  "operation:protect": Operation;
  /** Runs after the statement, inside its transaction when the operation is transactional. */
  "operation:execute": Operation;
  /** The records are read, decrypted and tagged. Decides which fields each record shows. */
  "operation:reveal": Operation;
  /**
   * Adds related records. Datetimes may be ISO 8601 texts here. Without an include, functions do not change the
   * records.
   */
  "operation:join": Operation;
  /** Removes fields that the caller may not read. */
  "operation:redact": Operation;
  /** Runs after a create, update or delete has committed. Errors are logged and do not undo the write. */
  "operation:committed": Operation;
}

const NAMES: Readonly<Record<Exclude<keyof HookMap, keyof KernelHooks>, true>> = {
  "access:mask": true,
  "operation:authorize": true,
  "operation:narrow": true,
  "operation:plan": true,
  "operation:normalize": true,
  "operation:validate": true,
  "operation:protect": true,
  "operation:execute": true,
  "operation:reveal": true,
  "operation:join": true,
  "operation:redact": true,
  "operation:committed": true,
};

/** The names of the hooks of the kernel and of the gate. */
export const HOOK_NAMES: readonly string[] = Object.freeze([...KERNEL_HOOKS, ...Object.keys(NAMES)]);

/** The name of a hook. */
export type HookName = keyof HookMap;
/** A function that a plugin adds to a hook. */
export type HookFunction<N extends HookName> = (payload: HookMap[N]) => void | PromiseLike<void>;

/** When a hook function runs, and how long it may take. */
export interface HookOptions extends KernelHookOptions {
  /** Restricts an operation hook to some entities and kinds; called once per pair when the app starts. */
  readonly appliesTo?: ((entity: AnyEntity, kind: OperationKind) => boolean) | undefined;
}
