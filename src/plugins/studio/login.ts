import type { OperationScope, PluginContext, Route } from "../../gate/index.ts";
import { camelCase } from "../../kernel/index.ts";
import type { FieldDescription } from "./app-document.ts";
import { createRouteAsker, describeAction } from "./describe-actions.ts";

/** An action with which callers log in. It returns a token. */
export interface LoginOptions {
  /** Name of the entity that has the action. */
  readonly entity: string;
  /** Name of the action. */
  readonly action: string;
  /** The member of its response that contains the token. @default "token" */
  readonly token?: string | undefined;
}

/** The login form of the page. */
export interface LoginForm {
  /** Absolute path. */
  readonly path: string;
  readonly token: string;
  readonly fields: readonly FieldDescription[];
}

/** The app's login for anonymous callers; undefined if there is no such action, or if they may not use it. */
export async function loginForm(
  { routes }: PluginContext,
  chosen: LoginOptions | undefined,
  scope: OperationScope,
  root: string,
): Promise<LoginForm | undefined> {
  const route = routes.list().find((one) => (chosen === undefined ? isLogin(one) : isChosen(one, chosen)));
  const entity = route?.entity;
  if (route === undefined || entity === undefined) return undefined;
  await scope.access.maskReady();
  const { right } = await createRouteAsker(scope)(route);
  if (right === undefined) return undefined;
  const described = await describeAction({ route, right, below: route.path }, entity, scope);
  if (described?.input === undefined) return undefined;
  return { path: root + route.path, token: chosen?.token ?? "token", fields: described.input };
}

function isChosen({ entity, action }: Route, chosen: LoginOptions): boolean {
  return entity?.name === chosen.entity && action === chosen.action;
}

const NAMES = new Set(["login", "logIn", "signin", "signIn"]);

/** Whether a route is an action on the collection that is named like a login. */
function isLogin({ method, path, action, entity }: Route): boolean {
  return entity !== undefined && method === "POST" && !path.includes("/:") && NAMES.has(camelCase(action));
}
