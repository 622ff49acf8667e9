import type { OperationScope, PluginContext, Route } from "../../gate/index.ts";
import { camelCase } from "../../kernel/index.ts";
import type { FieldDescription } from "./app-document.ts";
import { createRouteAsker, describeAction } from "./describe-actions.ts";

/** Where callers log in with what they know: an action that returns a token. */
export interface LoginOptions {
  /** Name of the entity that has the action. */
  readonly entity: string;
  /** Name of the action. */
  readonly action: string;
  /** Member of its response with the token. @default "token" */
  readonly token?: string | undefined;
}

/** The form of a login, as the page shows it. */
export interface LoginForm {
  /** Absolute path. */
  readonly path: string;
  readonly token: string;
  readonly fields: readonly FieldDescription[];
}

/** The login of an app for an anonymous caller; undefined when it has no action for that, or they may not use it. */
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

/** An action that is named like a login, of the whole collection. */
function isLogin({ method, path, action, entity }: Route): boolean {
  return entity !== undefined && method === "POST" && !path.includes("/:") && NAMES.has(camelCase(action));
}
