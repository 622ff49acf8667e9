// studio: a page to work with an app's data, with the caller's own rights. The plugin serves static files and a
// document that describes what the caller may see and do. Everything else is requests of the page to the API. Not part
// of the specification; opt-in.

import { type RuleRef, ruleName } from "../../entity/index.ts";
import { AuditLog, createPlugin, type Plugin, type PluginContext, type RouteContext } from "../../gate/index.ts";
import { didYouMean, Reply, unknownKeys } from "../../kernel/index.ts";
import { addOperationRoutes, operationsOf, PRIVATE } from "./administration.ts";
import type { ChartDescription } from "./app-document.ts";
import { describeApp, namesOf } from "./describe-app.ts";
import { type LoginOptions, loginForm } from "./login.ts";
import { sendAsset, studioPage } from "./serve-page.ts";
import { addViewRoutes, readingDriver, type ViewAs } from "./view-as.ts";

// No hooks, no services. Routes: GET /studio, its files, and GET /studio/app.json; for administrators, the routes in
// administration.ts and view-as.ts. In production, routes are only added if `rules` is set. Wraps drivers, with
// `viewAs`: refuses writes while an administrator views the app as another user.

/** Options of `studio`. */
export interface StudioOptions {
  /**
   * Rules for reading the page's document; one of them has to pass. Its content depends on the caller's rights in any
   * case. The page itself is static and reveals nothing about the app.
   * @default everyone outside of production; in production there is no studio without this option
   */
  readonly rules?: readonly RuleRef[] | undefined;
  /** The path of the page, from the root. @default "/studio" */
  readonly path?: string | undefined;
  /** The title of the page. @default "Studio" */
  readonly title?: string | undefined;
  /** The action that returns a token. @default an action named "login" or "signIn" that everyone may use */
  readonly login?: LoginOptions | undefined;
  /** Charts on the first page. @default none */
  readonly charts?: readonly ChartDescription[] | undefined;
  /** Translations of the page's texts, by key. @default English */
  readonly words?: Readonly<Record<string, string>> | undefined;
  /**
   * Lets administrators view the app as another user. Returns the user with an id, as `getUser` would. Administrators
   * then read with that user's rights and cannot change anything. Each request is logged by the plugin `audit()`, which
   * is required.
   * @default disabled
   */
  readonly viewAs?: ViewAs | undefined;
  /** Origin of the API that the page uses, if it is another one, such as "https://api.example". @default this app */
  readonly api?: string | undefined;
}

const KNOWN: Readonly<Record<keyof StudioOptions, true>> = {
  rules: true,
  path: true,
  title: true,
  login: true,
  charts: true,
  words: true,
  viewAs: true,
  api: true,
};

/**
 * Adds a page to view and change an app's data, at `/studio`.
 * @param options who may use it in production, and what it shows
 * @example
 * keelson({ entities, plugins: [studio()] })
 */
export function studio(options: StudioOptions = {}): Plugin {
  return createPlugin({
    id: "studio",
    version: "1.0.0",
    requires: ["rules"],
    after: ["audit", "field-security", "remote-joins"],
    ...(options.viewAs === undefined ? {} : { wrapDriver: readingDriver }),
    setup(context) {
      for (const sentence of problemsOf(options, context)) context.problem(`studio: ${sentence}`);
      if (options.rules !== undefined || !context.config.production) addRoutes(context, options);
    },
  });
}

function problemsOf(options: StudioOptions, { entities: model, has }: PluginContext): readonly string[] {
  const { path = "/studio", charts = [], login, api, viewAs } = options;
  const problems = [...unknownKeys(options, Object.keys(KNOWN))];
  if (!/^(\/[\w-]+)+$/.test(path)) problems.push(`the path "${path}" must begin with / and not end with it`);
  if (api !== undefined && (!URL.canParse(api) || new URL(api).origin !== api))
    problems.push(`api takes an origin such as "https://api.example", and not "${api}"`);
  if (viewAs !== undefined && !has(AuditLog))
    problems.push("viewAs needs the plugin audit(): what administrators see as another user is written down");
  const names = model.entities.map(({ name }) => name);
  for (const { entity: name, group, measure } of charts) {
    const entity = model.get(name);
    const unknown = entity && namesOf(group, measure).find((field) => entity.columns[field] === undefined);
    if (entity === undefined) problems.push(`charts: there is no entity "${name}".${didYouMean(name, names)}`);
    else if (unknown !== undefined)
      problems.push(`charts: ${name} has no field "${unknown}".${didYouMean(unknown, Object.keys(entity.columns))}`);
  }
  if (login !== undefined && model.get(login.entity)?.actions[login.action] === undefined)
    problems.push(`login: ${login.entity} has no action "${login.action}"`);
  return problems;
}

/** The page is open to everyone, because browsers open it before the user has a token. The document is protected. */
function addRoutes(context: PluginContext, options: StudioOptions): void {
  const { path = "/studio", title = "Studio", login, charts = [], words = {}, api, viewAs } = options;
  const { routes } = context;
  const hidden = { method: "GET", describe: () => undefined };
  const open = { ...hidden, rules: ["everyone"] };
  routes.add({
    ...open,
    path,
    action: "studio",
    async handler({ root }: RouteContext) {
      const form = await context.runAs(null, (anonymous) => loginForm(context, login, anonymous, root));
      return studioPage({ title, path, api, login: form, words });
    },
  });
  const { keys, services } = operationsOf(context);
  const admin = {
    ...(keys ? { keys: `${path}/keys` } : {}),
    ...(services ? { services: `${path}/services` } : {}),
    ...(viewAs === undefined ? {} : { viewAs: `${path}/as` }),
  };
  const parts = { title, charts, admin };
  const rules = options.rules?.flat().map(ruleName);
  routes.add({
    ...hidden,
    path: `${path}/app.json`,
    rules: rules ?? ["everyone"],
    action: "studio-app",
    async handler({ scope, root, request }: RouteContext) {
      const place = { root, base: request.base ?? "" };
      return new Reply(200, await describeApp(context, parts, scope, place), PRIVATE);
    },
  });
  // Rules of the routes, and no checks in their handlers: plugins ask rules before they repeat a stored response.
  const ofAdmins = rules?.map((rule) => `all(admin,${rule})`) ?? ["admin"];
  addOperationRoutes(context, path, ofAdmins);
  if (viewAs !== undefined)
    addViewRoutes(context, path, ofAdmins, viewAs, (scope, place) =>
      describeApp(context, { ...parts, isView: true }, scope, place),
    );
  routes.add({
    ...open,
    path: `${path}/:file`,
    action: "studio-file",
    handler: ({ params, request }: RouteContext) => sendAsset(params.file as string, request.headers["if-none-match"]),
  });
}
