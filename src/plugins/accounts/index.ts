// accounts: logins with better-auth. Its tables are entities of the app, its endpoints are routes of the app, and the
// user of its session is the caller. Not part of the specification; opt-in, with the optional peer dependency
// better-auth.

import type { BetterAuthOptions } from "better-auth";
import { type AnyEntity, type EntityLike, resolveEntity } from "../../entity/index.ts";
import { createPlugin, type Plugin, type PluginContext, schemaFromEntities } from "../../gate/index.ts";
import { AuthorizationError, type RequestInfo, unknownKeys } from "../../kernel/index.ts";
import { accountEntities } from "./account-entities.ts";
import { ADDRESS_HEADER, type AuthHandler, addAccountRoutes } from "./account-routes.ts";
import { accountsAdapter } from "./accounts-adapter.ts";
import { loadBetterAuth } from "./better-auth.ts";
import { logMail, type MailOptions } from "./mail.ts";

export { organization, user, userFields } from "./account-entities.ts";
export { inOrganization } from "./in-organization.ts";
export type { MailOptions, MailTransport } from "./mail.ts";

// No hooks, no services. Routes: the endpoints of better-auth, below `path`. Entities: user, session, account,
// verification, and the tables of better-auth's plugins.

/** Options of `accounts`. */
export interface AccountsOptions {
  /** The app's address in browsers: `https://shop.example`. */
  readonly baseUrl: string;
  /** The secret that signs cookies; at least 32 random characters: `openssl rand -base64 32`. */
  readonly secret: string;
  /** The path of better-auth's routes, from the root. @default "/auth" */
  readonly path?: string | undefined;
  /**
   * Entities of the app that replace tables of better-auth, such as a `user` with more fields.
   * @default none: the plugin brings `user` and all other tables
   */
  readonly entities?: readonly EntityLike[] | undefined;
  /**
   * Sends mail, for example `{ transport: nodemailer.createTransport(…), from }`. @default mail is logged; in
   * production it is not sent
   */
  readonly mail?: MailOptions | undefined;
  /** Whether users must verify their address before they can sign in. @default false */
  readonly verifyEmail?: boolean | undefined;
  /** Origins of other pages that may send the cookie, in addition to the origin of `baseUrl`. @default none */
  readonly trustedOrigins?: readonly string[] | undefined;
  /** Further options of better-auth: its plugins, social providers, sessions, hooks. */
  readonly betterAuth?:
    | Omit<BetterAuthOptions, "baseURL" | "basePath" | "secret" | "database" | "trustedOrigins">
    | undefined;
}

const KNOWN: Readonly<Record<keyof AccountsOptions, true>> = {
  baseUrl: true,
  secret: true,
  path: true,
  entities: true,
  mail: true,
  verifyEmail: true,
  trustedOrigins: true,
  betterAuth: true,
};

/**
 * Adds logins with better-auth: sign-up, sign-in, sessions, e-mail verification and password reset, and the features of
 * better-auth's plugins. Callers are `{ id, role, roles, organizationId, organizationRole }`.
 * @throws ConfigurationError when better-auth is not installed
 * @example
 * keelson({ entities: [order], plugins: [accounts({ baseUrl: "https://shop.example", secret: process.env.AUTH_SECRET })] })
 */
export function accounts(options: AccountsOptions): Plugin {
  const library = loadBetterAuth();
  const { path = "/auth", entities = [] } = options;
  const tables = library.getAuthTables({ ...options.betterAuth, user: userOptions(options) });
  const own = entities.map((one) => resolveEntity(one) as AnyEntity);
  const { brought, missing } = accountEntities(tables, own);
  return createPlugin({
    id: "accounts",
    version: "1.0.0",
    requires: ["rules"],
    schema: schemaFromEntities(brought),
    extend: missing,
    setup(context) {
      const { problem, entities: model } = context;
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) problem(`accounts: ${sentence}`);
      for (const sentence of problemsOf(options, context)) problem(`accounts: ${sentence}`);
      const entityOf = (name: string): AnyEntity | undefined => model.entities.find((one) => one.name === name);
      const auth = library.betterAuth({
        ...settingsOf(options, context),
        database: accountsAdapter(library.createAdapterFactory, context.driver, entityOf),
      });
      const origin = originOf(options.baseUrl);
      addAccountRoutes(context, auth as AuthHandler, path, origin);
      const origins = new Set([origin, ...(options.trustedOrigins ?? [])]);
      return { auth: auth as unknown as Sessions, path, origins, hasMembers: Object.hasOwn(tables, "member") };
    },
    getUser: findCaller,
  });
}

function problemsOf({ baseUrl, secret, verifyEmail, mail }: AccountsOptions, { config }: PluginContext): string[] {
  return [
    ...(URL.canParse(baseUrl) ? [] : ['`baseUrl` is the address that browsers see, such as "https://shop.example"']),
    ...(typeof secret === "string" && secret.length >= 32
      ? []
      : ["`secret` has at least 32 characters; make one with: openssl rand -base64 32"]),
    ...(verifyEmail === true && mail === undefined && config.production
      ? ["`verifyEmail` needs `mail` in production: without a mail, no user could sign in"]
      : []),
  ];
}

function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : "http://localhost";
}

/** `input: false`: users cannot set the role of a new account themselves. */
function userOptions({ betterAuth: { user } = {} }: AccountsOptions): BetterAuthOptions["user"] {
  const role = { type: "string", required: false, defaultValue: "user", input: false } as const;
  return { ...user, additionalFields: { role, ...user?.additionalFields } };
}

function settingsOf(options: AccountsOptions, context: PluginContext): BetterAuthOptions {
  const { baseUrl, secret, path = "/auth", verifyEmail = false, trustedOrigins = [], betterAuth = {} } = options;
  const mail = options.mail ?? (context.config.production ? undefined : logMail(context.log));
  const send = async (to: string, subject: string, text: string): Promise<void> => {
    await mail?.transport.sendMail({ from: mail.from, to, subject, text });
  };
  const { emailAndPassword, emailVerification, advanced } = betterAuth;
  const log = (level: "debug" | "info" | "success" | "warn" | "error", message: string): void =>
    context.log[level === "success" ? "info" : level](`better-auth: ${message}`);
  return {
    logger: { log },
    ...betterAuth,
    rateLimit: { enabled: context.config.production, ...betterAuth.rateLimit },
    baseURL: originOf(baseUrl),
    basePath: path,
    secret,
    trustedOrigins: [...trustedOrigins],
    user: userOptions(options),
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: verifyEmail,
      ...(mail === undefined
        ? {}
        : {
            sendResetPassword: ({ user, url }) =>
              send(user.email, "Reset your password", `Choose a new password at ${url}`),
          }),
      ...emailAndPassword,
    },
    emailVerification: {
      ...(mail === undefined
        ? {}
        : {
            sendOnSignUp: true,
            sendVerificationEmail: ({ user, url }) =>
              send(user.email, "Confirm your address", `Confirm your address at ${url}`),
          }),
      ...emailVerification,
    },
    advanced: {
      // better-auth would skip the check in test environments.
      disableOriginCheck: false,
      ...advanced,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ...advanced?.ipAddress },
    },
  };
}

/** The used part of `getSession`. */
interface Sessions {
  readonly api: {
    getSession(input: { readonly headers: Headers; readonly query: { readonly disableRefresh: true } }): Promise<{
      readonly user: { readonly id: string; readonly role?: unknown };
      readonly session: { readonly activeOrganizationId?: unknown };
    } | null>;
  };
}

interface State {
  readonly auth: Sessions;
  readonly path: string;
  readonly origins: ReadonlySet<string>;
  readonly hasMembers: boolean;
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** The user of the session. It is read for each request, so that a sign-out or a lost role takes effect at once. */
async function findCaller(
  { method, url, headers }: RequestInfo,
  { driver }: PluginContext,
  { auth, path, origins, hasMembers }: State,
): Promise<object | null> {
  const cookie = headers.get("cookie");
  const authorization = headers.get("authorization");
  // better-auth identifies the callers of its own routes.
  if ((cookie === null && authorization === null) || url.startsWith(`${path}/`)) return null;
  // Browsers also send the cookie from pages of other sites. Origin names the site of the page.
  const isForeign = !READS.has(method) && !origins.has(headers.get("origin") ?? "");
  const given = new Headers({
    // With an Authorization header the cookie is not needed: a browser may add a header that a proxy has asked for.
    ...(cookie === null || (isForeign && authorization !== null) ? {} : { cookie }),
    ...(authorization === null ? {} : { authorization }),
  });
  const found = await auth.api.getSession({ headers: given, query: { disableRefresh: true } });
  if (found === null) return null;
  if (isForeign && authorization === null) throw new AuthorizationError("Not from this origin");
  const { user, session } = found;
  const roles = typeof user.role === "string" ? user.role.split(",").map((role) => role.trim()) : [];
  return {
    id: user.id,
    ...(roles.length === 1 ? { role: roles[0] } : {}),
    roles,
    ...(hasMembers ? await membership(driver, user.id, session.activeOrganizationId) : {}),
  };
}

/** The active organization of a session, if the user is still a member. */
async function membership(driver: PluginContext["driver"], userId: string, organizationId: unknown): Promise<object> {
  const member = typeof organizationId === "string" ? await driver.findOne("member", { userId, organizationId }) : null;
  return { organizationId: member === null ? null : organizationId, organizationRole: member?.role ?? null };
}
