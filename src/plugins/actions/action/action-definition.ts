import type { Access, AnyEntity, PlainAction } from "../../../entity/index.ts";
import type { DescribeRoute, RouteReader } from "../../../gate/index.ts";
import type { ActionContext } from "./action-context.ts";

/** What a description may be about besides its reader. */
export interface DescribedAction {
  readonly entity: AnyEntity;
  resolve<T = unknown>(service: string): T;
}

/** An action as data, whatever it was written with: a plain one, and what builders and prebuilt ones say besides. */
export interface ActionDefinition extends Omit<PlainAction, "handler"> {
  /** Whether it is about one record: then below `/:id`, which its path need not name. @default whether the path begins with `/:id` */
  readonly onResource?: boolean | undefined;
  /** Which rules of the entity decide when it has none of its own. @default by method and path */
  readonly access?: Access | undefined;
  /**
   * Who asks the rules about the record: the action, before its handler runs, or the operations that the handler runs, each
   * in its own statement. They must carry `access` and `rules` of the context. @default "action"
   */
  readonly authorizes?: "action" | "operations" | undefined;
  /**
   * Whether a body is expected: JSON, and nothing else when it says true; "raw" leaves it to the handler to read. With an
   * input there is always one. @default JSON, or whatever it is unread, unless the method is GET or DELETE
   */
  readonly readsBody?: boolean | "raw" | undefined;
  /** Whether ids that no record can have are for the handler to answer. @default false: they are 404 */
  readonly takesAnyId?: boolean | undefined;
  /** Ids of services that it cannot do without; the app does not start where one is missing. @default none */
  readonly needs?: readonly string[] | undefined;
  /** Further addresses of the same action. */
  readonly aliases?: readonly { readonly method: string; readonly path: string }[] | undefined;
  /** What keeps the action from working on an entity, as a sentence without a full stop; undefined when nothing does. */
  readonly check?: ((entity: AnyEntity) => string | undefined) | undefined;
  /** Steps of a workflow in place of a handler; whoever provides workflows reads them. */
  readonly workflow?: { readonly steps: unknown; readonly options?: object | undefined } | undefined;
  /** Whether it takes soft deletions back: whoever its rules let do so is shown deleted records on request. @default false */
  readonly restores?: boolean | undefined;
  /** The field in which it stores that a record is deleted; copies of the record do not have it. @default none */
  readonly deletesBy?: ((entity: AnyEntity) => string) | undefined;
  /** The client's own method that does the same, so that the action may have its name. @default none */
  readonly sameAs?: "count" | undefined;
  /** What documentation says about it. @default what `input`, `query` and `output` declare */
  readonly describe?: ((reader: RouteReader, on: DescribedAction) => ReturnType<DescribeRoute>) | undefined;
  handler(context: ActionContext): unknown;
  /** What a call in the process does, where the handler's answer is for HTTP only, such as a stream. @default the handler */
  call?(context: ActionContext): unknown;
}
