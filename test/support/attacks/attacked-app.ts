import type { ServableApp } from "../../../src/adapters/node/index.ts";
import {
  type AnyEntity,
  createPlugin,
  type Driver,
  endpoint,
  type Keelson,
  type KeelsonConfig,
  keelson,
  type Logger,
  type Plugin,
  type Row,
} from "../../../src/index.ts";
import { audit } from "../../../src/plugins/audit/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTokenSigner, jwtAuth } from "../../../src/plugins/jwt-auth/index.ts";
import { rateLimit } from "../../../src/plugins/rate-limit/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { startApp } from "../http.ts";
import { NEW_KEY, OLD_KEY, type ProtectedApp, seedProtected } from "../protected/app.ts";
import { type Canaries, createCanaries } from "../protected/canaries.ts";
import { rawEndpoints } from "../protected/raw-endpoints.ts";
import { CALLERS, type CallerName, USERS } from "../protected/truth.ts";
import { attackedEntities } from "./entities.ts";
import type { Target } from "./probe.ts";
import { ATTACKED_READERS } from "./truth.ts";

/** Token settings of the app: the public ones and the secret. */
export const ISSUER = "https://id.example";
export const AUDIENCE = "attacked";
export const TOKEN_SECRET = "what the app signs with, which nobody has but the app";
/** Login requests allowed per address. */
export const LOGINS = 5;
/** Maximum number of records per page. */
export const MOST_PER_PAGE = 20;

/** A deliberate defect in the app that an attack must find. */
export interface Hole {
  /** Description of the defect. */
  readonly what: string;
  readonly entities?: (entities: readonly AnyEntity[]) => readonly AnyEntity[];
  readonly driver?: (driver: Driver) => Driver;
  readonly plugins?: (plugins: readonly Plugin[]) => readonly Plugin[];
  readonly config?: Partial<KeelsonConfig>;
  /** Receives the requests in place of the app. */
  readonly serves?: (api: ServableApp) => ServableApp;
}

/** A database, and direct access to its contents, bypassing Keelson. */
export interface AttackedDatabase {
  readonly driver: Driver;
  rows(entity: string): Promise<Row[]>;
}

export interface AttackedApp extends Target {
  readonly api: Keelson;
  close(): Promise<void>;
}

/** Plugin endpoints for all callers, for authenticated callers, and without a rule. */
function doors(canaries: Canaries): Plugin {
  const { service: _, ...raw } = rawEndpoints;
  const open = Object.entries(raw).map(([name, handler]) => [
    name,
    endpoint(`/raw/${name}`, { rules: ["everyone"], handler }),
  ]);
  return createPlugin({
    id: "doors",
    endpoints: {
      ...Object.fromEntries(open),
      who: endpoint("/who", { rules: ["everyone"], handler: ({ scope }) => scope.principal }),
      mine: endpoint("/mine", { rules: ["authenticated"], handler: () => ({ ok: true }) }),
      vaults: endpoint("/every-vault", {
        rules: ["admin"],
        handler: async ({ scope }) => scope.driver.findMany("vault"),
      }),
      unruled: endpoint("/unruled", { handler: async ({ scope }) => scope.driver.findMany("letter") }),
      login: endpoint("/login", { method: "POST", rules: ["everyone"], handler: () => ({ ok: true }) }),
      broken: endpoint("/broken", {
        rules: ["everyone"],
        handler() {
          throw new TypeError(`value ${canaries.all.map(({ text }) => text).join("\n    at ")}`);
        },
      }),
    },
  });
}

/** A log entry as production writes it: without the messages of the app's own errors, which are all TypeErrors here. */
function asInProduction(meta: Row): Row {
  const { cause } = meta;
  return {
    ...meta,
    ...(meta.error === "TypeError" ? { message: undefined } : {}),
    ...(typeof cause === "object" && cause !== null ? { cause: asInProduction(cause as Row) } : {}),
  };
}

function productionLog(logger: Logger): Logger {
  const level =
    (name: keyof Logger): Logger["info"] =>
    (text, meta) =>
      logger[name](text, meta && asInProduction(meta));
  return { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") };
}

function crmService(canaries: Canaries) {
  const contact = attackedEntities.find(({ name }) => name === "contact")?.build() as AnyEntity;
  const secrets = ["secret", "pin", "margin"].map((name) => [name, canaries.valueFor(contact, name, {})] as const);
  return {
    shared: { ttl: 60_000 },
    fetchByIds: async (_entity: string, ids: readonly string[]) =>
      ids.map((id) => ({ id, name: `contact ${id}`, ...Object.fromEntries(secrets) })),
  };
}

/** An app with every shipped plugin switched on, served over HTTP, and the tools to attack it. */
export async function startAttackedApp(database: AttackedDatabase, hole?: Hole): Promise<AttackedApp> {
  const canaries = createCanaries(ATTACKED_READERS);
  const logger = recordingLogger();
  const built: readonly AnyEntity[] = attackedEntities.map((one) => one.build());
  const ours: readonly Plugin[] = [
    doors(canaries),
    jwtAuth({ secret: TOKEN_SECRET, issuer: ISSUER, audience: AUDIENCE }),
    idempotency({ encrypted: true }),
    audit({ read: ["admin"] }),
    rateLimit({
      policies: [{ name: "logins", limit: LOGINS, window: 3_600, by: "address", for: { action: "login" } }],
    }),
  ];
  const crm = crmService(canaries);
  const api: Keelson = keelson({
    entities: hole?.entities?.(built) ?? built,
    driver: hole?.driver?.(database.driver) ?? database.driver,
    logger: productionLog(logger),
    production: false,
    limits: { pageSize: 10, maxPageSize: MOST_PER_PAGE, bulk: 20 },
    encryption: { key: NEW_KEY, keyId: "new", bind: true, indexKey: OLD_KEY },
    services: { crm: () => crm },
    plugins: hole?.plugins?.(ours) ?? ours,
    ...hole?.config,
  });
  await api.ready;
  await seed(api, canaries);
  const sign = createTokenSigner({ secret: TOKEN_SECRET, issuer: ISSUER, audience: AUDIENCE, expiresIn: 3_600 });
  const tokens: Partial<Record<CallerName, string>> = {};
  for (const id of USERS) tokens[id] = await sign({ sub: id, role: CALLERS[id]?.role });
  const served = await startApp(hole?.serves?.(api) ?? api);
  return {
    api,
    url: served.url,
    port: served.port,
    tokens: tokens as Target["tokens"],
    routes: api.routes,
    canaries,
    lines: logger.lines,
    stored: database.rows,
    close: served.close,
  };
}

/** Creates one record of each kind for each user. */
async function seed(api: Keelson, canaries: Canaries): Promise<void> {
  const system = api.asSystem() as unknown as Readonly<Record<string, { create(data: object): Promise<unknown> }>>;
  await seedProtected({ api } as unknown as ProtectedApp, canaries);
  const create = async (entity: string, data: object, owner?: string): Promise<void> => {
    const definition = (api.entities as Readonly<Record<string, AnyEntity>>)[entity] as AnyEntity;
    const secrets = Object.keys(ATTACKED_READERS[entity] ?? {}).map((field) => [
      field,
      canaries.valueFor(definition, field, { owner }),
    ]);
    await system[entity]?.create({ ...Object.fromEntries(secrets), ...data });
  };
  for (const owner of USERS) {
    for (const entity of ["letter", "drawer"]) {
      await create(entity, { id: `${entity}-${owner}`, authorId: owner }, owner);
      await create(entity, { id: `${entity}-${owner}-gone`, authorId: owner, deletedAt: new Date() }, owner);
    }
    const attached = { id: `attachment-${owner}`, name: `of ${owner}`, letterId: `letter-${owner}`, authorId: owner };
    await create("attachment", attached);
    await create("account", { id: `account-${owner}`, email: `${owner}@host.example`, name: owner });
    await create("parcel", { id: `parcel-${owner}`, label: `for ${owner}`, recipientId: `c-${owner}` });
  }
  await create("bare", { id: "bare-1" });
  // More than fits on one page.
  const now = new Date();
  const blank = { credit: 0, verified: false, role: "user", password: "x", createdAt: now, updatedAt: now };
  const more = Array.from({ length: MOST_PER_PAGE + 10 }, (_, i) => `extra-${i}`);
  for (const id of more)
    await api.driver.create("account", { ...blank, id, email: `${id}@host.example`, name: id, token: null });
}
