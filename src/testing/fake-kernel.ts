import { memoryDriver } from "../drivers/memory/index.ts";
import { createModel, type EntityLike, type EntityModel, isKeelsonError } from "../entity/index.ts";
import {
  type App,
  createApp,
  type Driver,
  type HookMap,
  type HookName,
  type Operation,
  type OperationInput,
  type OperationScope,
  type Plugin,
  type PluginContext,
} from "../gate/index.ts";
import { type KernelResponse, type Logger, runHooks, type User } from "../kernel/index.ts";
import { recordingLogger } from "./recording-logger.ts";
import { createRecorder, createStandIn } from "./stand-in.ts";

/** The declarations of the plugins, as sorted, printable lists. */
export interface Seen {
  readonly services: readonly string[];
  readonly hooks: readonly string[];
  readonly routes: readonly string[];
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly problems: readonly string[];
}

/** The events since the plugins were booted, as printable lists in order. */
export interface Recorded {
  /**
   * Operations in the order in which they began, including nested ones: `create note`. Empty if a plugin has its own
   * tracer.
   */
  readonly operations: readonly string[];
  /** Statements that reached the driver: `insert note`. */
  readonly statements: readonly string[];
  /** The plugins' hook functions that were called, by plugin and hook: `acme/audit operation:committed`. */
  readonly hooks: readonly string[];
  /** The lines of the log: `level message {meta}`. */
  readonly logs: readonly string[];
  /** The problems for which the last start was refused. */
  readonly problems: readonly string[];
}

/** The options of a call. */
export interface CallInit {
  /** The body, which is sent as JSON. */
  readonly body?: unknown;
  /** The query string, without `?`. */
  readonly search?: string;
  /** In lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response of `call`. */
export interface FakeResponse {
  readonly status: number;
  readonly headers: KernelResponse["headers"];
  /** JSON is parsed; null without a body. */
  readonly body: unknown;
}

/**
 * The kernel and the gate with only the plugins under test. Stand-ins replace missing plugins and allow everything that
 * no plugin decides. It records and never asserts.
 */
export interface FakeKernel {
  withEntities(...entities: readonly EntityLike[]): FakeKernel;
  /** @default memoryDriver() */
  withDriver(driver: Driver): FakeKernel;
  /** Provides a stand-in for a service of another plugin. */
  given(serviceId: string, value: unknown): FakeKernel;
  /** Sets the caller for the following calls; null for an anonymous caller. */
  as(user: User | null): FakeKernel;
  /**
   * Boots plugins. Plugins that were used before are stopped and started again with them.
   * @throws ConfigurationError with the problems that plugins reported, and with those for which the kernel refuses to
   *   start
   */
  use(...plugins: readonly Plugin[]): Promise<FakeKernel>;
  readonly seen: Seen;
  readonly recorded: Recorded;
  readonly model: EntityModel;
  readonly log: Logger & { readonly lines: readonly string[] };
  /**
   * Sends a request through the kernel. Entities have no prefix: `/posts`. Unless a plugin decides on rules of routes
   * (`route:authorize`), `everyone` and `authenticated` work as usual and any other rule passes for admins.
   */
  call(method: string, path: string, init?: CallInit): Promise<FakeResponse>;
  /** Runs the plugins' functions of a hook and returns the payload. */
  run<N extends HookName>(hook: N, payload: HookMap[N]): Promise<HookMap[N]>;
  /** Runs an operation as the caller. */
  operation(input: OperationInput): Promise<Operation>;
  /** A scope of the caller, for hooks that need one; closed with the kernel. */
  scope(): OperationScope;
  /** Stops the plugins, closes services and disconnects the driver. */
  close(): Promise<void>;
}

/**
 * Makes a kernel for testing a plugin without the plugins it requires.
 * @example
 * const kernel = createFakeKernel().withEntities(post).withDriver(memoryDriver({ post: [...] })).as({ id: "u1" })
 * await kernel.use(health())
 * await kernel.call("GET", "/health/live")
 */
export function createFakeKernel(): FakeKernel {
  let entities: readonly EntityLike[] = [];
  let driver: Driver | undefined;
  let user: User | null = null;
  const given = new Map<string, unknown>();
  const plugins: Plugin[] = [];
  const log = recordingLogger();
  let recorder = createRecorder();
  let problems: readonly string[] = [];
  let booted: { readonly app: App; readonly context: PluginContext } | undefined;
  const scopes: (() => void)[] = [];

  async function close(): Promise<void> {
    for (const end of scopes.splice(0)) end();
    const { app } = booted ?? {};
    booted = undefined;
    await app?.close();
  }

  function create(): NonNullable<typeof booted> {
    recorder = createRecorder();
    problems = [];
    driver ??= memoryDriver();
    const { plugin: standIn, context } = createStandIn(plugins, recorder);
    const identifies = plugins.some(({ getUser }) => getUser !== undefined);
    const app = createApp({
      entities,
      driver,
      plugins: [standIn, ...plugins.map((plugin) => recorder.watch(plugin, () => user)), recorder.observer],
      apiPrefix: "",
      production: false,
      logger: log,
      services: Object.fromEntries([...given].map(([id, value]) => [id, () => value])),
      getUser: identifies ? undefined : () => user,
    });
    booted = { app, context: context() };
    return booted;
  }
  const running = (): NonNullable<typeof booted> => booted ?? create();

  const kernel: FakeKernel = {
    withEntities(...list) {
      entities = [...entities, ...list];
      return kernel;
    },
    withDriver(one) {
      driver = one;
      return kernel;
    },
    given(id, value) {
      given.set(id, value);
      return kernel;
    },
    as(who) {
      user = who;
      return kernel;
    },
    async use(...added) {
      plugins.push(...added);
      await close();
      try {
        await create().app.ready;
      } catch (error) {
        if (isKeelsonError(error) && "problems" in error) problems = error.problems as readonly string[];
        await close();
        throw error;
      }
      return kernel;
    },
    get seen() {
      const { services, hookNames, routes } = recorder;
      return {
        services: [...services].sort(),
        hooks: [...hookNames].sort(),
        routes: [...routes].sort(),
        requires: plugins.flatMap(({ requires }) => requires).sort(),
        provides: plugins.flatMap(({ provides }) => provides).sort(),
        problems,
      };
    },
    get recorded() {
      const { operations, statements, calls } = recorder;
      return { operations, statements, hooks: calls, logs: log.lines, problems };
    },
    get model() {
      return booted?.app.model ?? createModel([...entities]);
    },
    log,
    async call(method, path, { body, search = "", headers = {} } = {}) {
      const {
        status,
        headers: sent,
        body: text,
      } = await running().app.handle({
        method,
        url: search === "" ? path : `${path}?${search}`,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        body: body === undefined ? undefined : { kind: "parsed", value: body },
      });
      return { status, headers: sent, body: typeof text === "string" ? readText(text) : text };
    },
    async run(name, payload) {
      await runHooks(recorder.hooks.list(name), payload);
      return payload;
    },
    operation: (input) => running().context.runAs(user, (scope) => scope.run(input)),
    scope() {
      let found: OperationScope | undefined;
      // An early call begins immediately.
      void running().context.runAs(
        user,
        (scope) => {
          found = scope;
          return new Promise<void>((resolve) => scopes.push(resolve));
        },
        { early: true },
      );
      return found as unknown as OperationScope;
    },
    close,
  };

  return kernel;
}

function readText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
