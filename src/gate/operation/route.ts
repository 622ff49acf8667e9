import type { Access, ActionMeta, AnyEntity } from "../../entity/index.ts";
import type { KernelRouteContext, KernelRouteInput } from "../../kernel/index.ts";
import type { OperationScope } from "./operation-scope.ts";
import type { DescribeRoute } from "./route-description.ts";

/** What a route handler gets. */
export interface RouteContext extends KernelRouteContext {
  readonly route: Route;
  readonly scope: OperationScope;
}

/** Handles the requests of a route. */
export type RouteHandler = (context: RouteContext) => unknown;

/** A route as plugins add it. */
export interface RouteInput extends Omit<KernelRouteInput, "handler" | "meta"> {
  readonly handler: RouteHandler;
  readonly entity?: AnyEntity | undefined;
  /** What documentation says about it; plugins may keep more of their own in it. */
  readonly meta?: (ActionMeta & Readonly<Record<string, unknown>>) | undefined;
  /** Which of the entity's rules its operation obeys; for listings. */
  readonly access?: Access | undefined;
  /** Rules that its operations obey in place of the entity's; for listings. */
  readonly obeys?: readonly string[] | undefined;
  /** Further documentation, for one reader. @default what all routes have in common */
  readonly describe?: DescribeRoute | undefined;
  /**
   * Whether all that the handler does is in the database. When it says true, a caller may make it a part of a transaction of
   * their own, in a batch, and so take it back; when it says false, it is in no transaction of others.
   * @default it may be one transaction, which ends as the handler does
   */
  readonly transactional?: boolean | undefined;
  /** How the in-process client calls it, under the name of `action`; entity routes only. @default not at all */
  readonly call?: ((scope: OperationScope, ...args: readonly unknown[]) => unknown) | undefined;
}

/** A registered route, printable. */
export interface Route extends RouteInput {
  readonly inApi: boolean;
  /** Id of the plugin that added it. */
  readonly plugin: string;
}
