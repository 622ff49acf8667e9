import { checkConfig } from "./check-config.ts";
import { embedded } from "./drivers/prisma/index.ts";
import {
  type AnyEntity,
  ConfigurationError,
  createModel,
  type DefinitionOf,
  type EntityLike,
  type EntityRules,
  type EntityRulesInput,
  type InferAll,
  ruleName,
  ruleObjectsOf,
} from "./entity/index.ts";
import {
  type AddedIn,
  type App,
  createApp,
  createPlugin,
  type Driver,
  type EntitiesWith,
  type IdGenerator,
  type InProcessClient,
  type Plugin,
  PluginList,
  type SystemClient,
} from "./gate/index.ts";
import type {
  Clock,
  Limits,
  Logger,
  RequestInfo,
  ServiceFactory,
  ServiceName,
  TrustedOrigins,
  User,
} from "./kernel/index.ts";
import { actions } from "./plugins/actions/index.ts";
import { batch } from "./plugins/batch/index.ts";
import { crud } from "./plugins/crud/index.ts";
import { type AppEncryption, fieldSecurity } from "./plugins/field-security/index.ts";
import { health } from "./plugins/health/index.ts";
import { type OpenApiOptions, openapi } from "./plugins/openapi/index.ts";
import { query } from "./plugins/query/index.ts";
import { relations } from "./plugins/relations/index.ts";
import { type RemoteJoinsOptions, remoteJoins } from "./plugins/remote-joins/index.ts";
import { type Rule, rules } from "./plugins/rules/index.ts";
import { schema } from "./plugins/schema/index.ts";
import { search } from "./plugins/search/index.ts";
import { validation } from "./plugins/validation/index.ts";
import { versions } from "./plugins/versions/index.ts";
import { haveWorkflows, type WorkflowsOptions, workflows } from "./plugins/workflows/index.ts";

/** Options of the default plugins, by plugin. */
export interface DefaultPluginOptions {
  /** Rules that definitions refer to by name. */
  readonly rules?: readonly Rule[] | undefined;
  /** Keys of encrypted fields. */
  readonly encryption?: AppEncryption | undefined;
  readonly workflows?: WorkflowsOptions | undefined;
  /** Options for joining records of other services. */
  readonly remoteJoins?: RemoteJoinsOptions | undefined;
  readonly openapi?: OpenApiOptions | undefined;
}

/** The default plugins of an app. */
export function defaultPlugins(options: DefaultPluginOptions = {}): PluginList {
  return new PluginList([
    rules({ rules: options.rules }),
    fieldSecurity({ encryption: options.encryption }),
    validation(),
    versions(),
    search(),
    query(),
    relations(),
    batch(),
    crud(),
    actions(),
    workflows(options.workflows),
    remoteJoins(options.remoteJoins),
    schema(),
    openapi(options.openapi),
    health(),
  ]);
}

/** The options of `keelson()`. Only `entities` is required. @typeParam TPlugins the type of `plugins` */
export interface KeelsonConfig<
  TEntities extends readonly EntityLike[] = readonly EntityLike[],
  TPlugins extends Iterable<Plugin> = Iterable<Plugin>,
> {
  /** Definitions or builders. */
  readonly entities: TEntities;
  /** @default a SQLite file under .keelson/ */
  readonly driver?: Driver;
  /** First segment(s) of entity routes. @default "/api" */
  readonly apiPrefix?: string;
  /** Appended to the default plugins. A function receives the defaults and returns the complete list. */
  readonly plugins?: (TPlugins & readonly Plugin[]) | ((defaults: PluginList) => TPlugins);
  /**
   * Identifies the caller; null for an anonymous caller. An adapter's own `getUser` takes precedence; cannot be
   * combined with a plugin that has one, such as `jwtAuth`.
   * @default all callers are anonymous
   */
  readonly getUser?: (request: RequestInfo) => User | null | undefined | Promise<User | null | undefined>;
  /**
   * Origins whose pages may send `POST`, `PUT`, `PATCH` and `DELETE`, such as "https://app.example". Requests from
   * other sites are refused with 403, and so are forms whose origin the browser does not confirm: both would be sent
   * with the caller's cookies. Requests with a bearer token are not affected. "all" disables the check.
   * @default the app's own origin only
   */
  readonly trustedOrigins?: TrustedOrigins;
  /** Services by name, as with `registerService`. */
  readonly services?: Readonly<Record<string, ServiceFactory>>;
  /** @default `role` is "admin", `isAdmin` is true, or `roles` contains "admin" */
  readonly isAdmin?: (user: User) => boolean;
  /** Rules of entities without `.rules()`. @default no rules: such an entity denies all access */
  readonly defaultRules?: EntityRulesInput;
  /** Custom rules that definitions refer to by name. Not needed for rules that a definition contains as objects. */
  readonly rules?: readonly Rule[];
  readonly limits?: Partial<Limits>;
  /**
   * Keys of encrypted fields for this app only (spec 2.4).
   * @default those of KEELSON_ENCRYPTION_KEY, otherwise the process-wide keys of `initEncryption`
   */
  readonly encryption?: AppEncryption;
  /** Options for joining records of other services: batches, deadline, cache, circuit breaker (spec 4.4). */
  readonly remoteJoins?: RemoteJoinsOptions;
  /** @default the process-wide logger */
  readonly logger?: Logger;
  /** @default the system's time */
  readonly clock?: Clock;
  /** Makes record ids. @default UUID version 7 */
  readonly ids?: IdGenerator;
  /** @default NODE_ENV is "production" */
  readonly production?: boolean;
}

type NameOf<E> = DefinitionOf<E> extends { readonly name: infer N extends string } ? N : never;

type EntitiesByName<TEntities extends readonly EntityLike[]> = {
  readonly [E in TEntities[number] as NameOf<E>]: DefinitionOf<E>;
};

/** Typed access to records as a user or as the system. */
export interface TypedCallers<TEntities extends readonly EntityLike[] = readonly EntityLike[]> {
  /** Typed in-process access as a user: same rules, same field masks, no HTTP. */
  as(user: User): InProcessClient<TEntities>;
  /** Access without rules and field masks; may set ids. For seeds, jobs and tests. */
  asSystem(): SystemClient<TEntities>;
}

/** A running app. */
export interface Keelson<TEntities extends readonly EntityLike[] = readonly EntityLike[]>
  extends Omit<App, "as" | "asSystem" | "model" | "registerService" | "transaction">,
    TypedCallers<TEntities> {
  /** Type-level only: `typeof api.$Infer.Entities["post"]`, `typeof api.$Infer.EntityNames`. */
  readonly $Infer: InferAll<TEntities>;
  /** Definitions by name. */
  readonly entities: EntitiesByName<TEntities>;
  /** The definition of an entity. @throws ConfigurationError for an unknown entity */
  getEntity<const N extends keyof EntitiesByName<TEntities>>(name: N): EntitiesByName<TEntities>[N];
  /**
   * Runs work in one transaction. An error rolls all calls back, and so does a call that failed after a write, even if
   * its error is caught.
   * @param work calls `tx.as(user)` and `tx.asSystem()`; other clients are not part of the transaction
   * @example await api.transaction(async (tx) => {
   *   const { id } = await tx.as(user).order.create({ number: "7" })
   *   await tx.asSystem().entry.create({ orderId: id })
   * })
   */
  transaction<T>(work: (tx: TypedCallers<TEntities>) => Promise<T>): Promise<T>;
  registerService: App["registerService"];
  resolve<T = unknown>(name: ServiceName<T>): T;
  resolveAsync<T = unknown>(name: ServiceName<T>): Promise<T>;
  hasService(name: ServiceName): boolean;
}

/** Returns the configuration with its type. */
export function defineConfig<
  const TEntities extends readonly EntityLike[],
  const TPlugins extends Iterable<Plugin> = readonly Plugin[],
>(config: KeelsonConfig<TEntities, TPlugins>): KeelsonConfig<TEntities, TPlugins> {
  return config;
}

/** Adds a configuration problem to the start-up report. */
function reporting(problems: readonly string[]): Plugin {
  return createPlugin({ id: "configuration", setup: ({ problem }) => problems.forEach(problem) });
}

/**
 * Makes an app from entity definitions. It connects automatically; requests wait for it, and so does `await api.ready`.
 * @param given the entities, and options that differ from the defaults
 * @returns the app, which has begun to start
 * @throws ConfigurationError with all problems of the configuration
 * @example
 * const api = keelson({ entities: [user, post], getUser: (request) => findUser(request.headers.get("authorization")) })
 */
export function keelson<
  const TEntities extends readonly EntityLike[],
  const TPlugins extends Iterable<Plugin> = readonly Plugin[],
>(given: KeelsonConfig<TEntities, TPlugins>): Keelson<EntitiesWith<TEntities, AddedIn<TPlugins>>> {
  const { config, problems } = checkConfig(given as KeelsonConfig);
  const {
    plugins,
    driver,
    rules: customRules = [],
    encryption,
    remoteJoins: joins,
    defaultRules = {},
    ...options
  } = config;
  const defaultLists = Object.entries(defaultRules).map(([access, list]) => [access, list ?? []] as const);
  // The plugin `rules` reports members that are not rules.
  const held = ruleObjectsOf(defaultLists.flatMap(([, list]) => list)) as readonly Rule[];
  const defaults = defaultPlugins({
    rules: [...customRules, ...held],
    encryption,
    workflows: journalFor(config),
    remoteJoins: joins,
  });
  const list = typeof plugins === "function" ? plugins(defaults) : defaults.with(...(plugins ?? []));
  const booted = createApp({
    ...options,
    driver: driver ?? embedded(),
    plugins: problems.length === 0 ? [...list] : [...list, reporting(problems)],
    defaultRules: Object.fromEntries(defaultLists.map(([access, of]) => [access, of.map(ruleName)])) as EntityRules,
  });
  const { model, container, as, asSystem, transaction, ...rest } = booted;
  const entities = Object.freeze(Object.fromEntries(model.entities.map((entity) => [entity.name, entity])));
  const app = {
    ...rest,
    container,
    entities,
    getEntity(name: string): AnyEntity {
      const entity = model.get(name);
      if (entity === undefined) throw new ConfigurationError(`There is no entity "${name}"`);
      return entity;
    },
    as,
    asSystem,
    transaction,
    resolve: <T>(name: ServiceName<T>) => container.resolve<T>(name),
    resolveAsync: <T>(name: ServiceName<T>) => container.resolveAsync<T>(name),
    hasService: (name: string) => container.has(name),
  };
  // The kernel has no entity types; TEntities has them.
  return Object.freeze(app) as unknown as Keelson<EntitiesWith<TEntities, AddedIn<TPlugins>>>;
}

/** Adds a journal if an action is a workflow. It is encrypted if a field is encrypted or a key is configured. */
function journalFor({ entities, encryption }: KeelsonConfig): WorkflowsOptions {
  const { entities: built } = createModel(entities); // problems are reported elsewhere
  const isEncrypted = built.some(({ fields }) =>
    Object.values(fields).some(({ encrypted }) => encrypted !== undefined),
  );
  return { journal: haveWorkflows(built), encrypted: isEncrypted || encryption !== undefined };
}
