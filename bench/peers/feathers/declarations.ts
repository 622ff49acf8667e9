import type { HookContext as FeathersHookContext } from "@feathersjs/feathers";
import type { Application as KoaApplication } from "@feathersjs/koa";

/** The app; its services are not typed here, which changes nothing of what runs. */
export type Application = KoaApplication;

/** The context of its hooks and resolvers. */
export type HookContext = FeathersHookContext<Application>;

/** What the token strategy puts into `params.user`. */
export interface Caller {
  readonly id: string;
  readonly role: string;
}
