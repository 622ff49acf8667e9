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

/** A request on its way through the kernel. */
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
   * Checks the route's own rules, runs its handler, and makes a response of the result, in the given scope: the call's,
   * or one of its transactions. A hook may replace it with its own function, which may call this one; the function of
   * the plugin that was set up last is called first.
   */
  respond: (scope: OperationScope) => Promise<KernelResponse>;
}

/** May this caller use this route? Denied until a hook sets `allowed`. */
export interface RouteAuthorization extends KernelRouteAuthorization {
  readonly route: Route;
  readonly scope: OperationScope;
}

/** A field mask on its way from the widest one to the caller's. */
export interface MaskDraft {
  readonly entity: AnyEntity;
  readonly principal: Principal;
  readonly scope: OperationScope;
  mask: FieldMask;
}

/** Every hook that the kernel and the gate run, by the payload of its functions. */
export interface HookMap extends KernelHooks {
  "request:start": RequestEvent;
  "request:end": ResponseEvent;
  "route:around": RouteCall;
  "route:authorize": RouteAuthorization;
  /**
   * Narrows the fields a caller may read, write, filter and sort on; called once per scope and entity. An asynchronous
   * hook first closes the fields it has not decided yet: that mask holds until its promise is settled.
   */
  "access:mask": MaskDraft;
  /** Decides, or narrows the records to a predicate. Runs before input is read. */
  "operation:authorize": Operation;
  /**
   * Says with `require` which records exist for an operation, for reasons other than rules, such as soft deletion.
   * Applies to the system, too. Runs when the query is known; not on create.
   */
  "operation:narrow": Operation;
  /**
   * The query is known and narrowed to what the caller may filter on. Sets the related records that the statement reads
   * (`joins`). Lists.
   */
  "operation:plan": Operation;
  /** Drops what the caller may not write; trims; sets defaults. Create and update. */
  "operation:normalize": Operation;
  /** Checks values, cross-field rules and references. Create and update. */
  "operation:validate": Operation;
  /** Replaces valid data with what is stored, such as hashes; before any transaction. Create and update. */
  "operation:protect": Operation;
  /** Runs after the statement, inside its transaction when the operation is transactional. */
  "operation:execute": Operation;
  /** The records are read, in clear text and tagged: decides what each of them shows. */
  "operation:reveal": Operation;
  /**
   * Adds related records. Datetimes may be ISO 8601 texts here. Without an include, a function leaves the records
   * alone.
   */
  "operation:join": Operation;
  /** Removes what the caller may not read. */
  "operation:redact": Operation;
  /** A create, update or delete has committed; a failure here is logged and never undoes the write. */
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
