import type { Access, ActionMeta, AnyEntity } from "../../entity/index.ts";
import type { KernelRouteContext, KernelRouteInput } from "../../kernel/index.ts";
import type { OperationScope } from "./operation-scope.ts";
import type { DescribeRoute } from "./route-description.ts";

/** The input of a route handler. */
export interface RouteContext extends KernelRouteContext {
  readonly route: Route;
  readonly scope: OperationScope;
}

/** Handles the requests of a route. */
export type RouteHandler = (context: RouteContext) => unknown;

/** A route as declared by a plugin. */
export interface RouteInput extends Omit<KernelRouteInput, "handler" | "meta"> {
  readonly handler: RouteHandler;
  readonly entity?: AnyEntity | undefined;
  /** The route's documentation; plugins may store their own data in it. */
  readonly meta?: (ActionMeta & Readonly<Record<string, unknown>>) | undefined;
  /** Which of the entity's rules its operation is checked against; for listings. */
  readonly access?: Access | undefined;
  /** Rules that replace the entity's for its operations; for listings. */
  readonly obeys?: readonly string[] | undefined;
  /** Additional documentation for one reader. @default the part that all routes share */
  readonly describe?: DescribeRoute | undefined;
  /**
   * Whether the handler only uses the database. If true, a caller may include the route in a batch transaction, which
   * may roll it back. If false, it never runs in a transaction that a plugin begins.
   * @default it may run in a transaction of its own, which commits or rolls back with the handler
   */
  readonly transactional?: boolean | undefined;
  /** Makes it a method of the in-process client, named like `action`; entity routes only. @default no method */
  readonly call?: ((scope: OperationScope, ...args: readonly unknown[]) => unknown) | undefined;
}

/** A registered route, printable. */
export interface Route extends RouteInput {
  readonly inApi: boolean;
  /** Id of the plugin that added it. */
  readonly plugin: string;
}
