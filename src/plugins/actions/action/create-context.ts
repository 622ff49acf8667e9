import type { AnyEntity } from "../../../entity/index.ts";
import {
  type Driver,
  type EntityClient,
  type EntityRef,
  entityName,
  notingScope,
  type OperationScope,
  type PluginContext,
  type RecordUse,
} from "../../../gate/index.ts";
import {
  boundedBody,
  EntityNotFoundError,
  InternalError,
  type KernelBody,
  type KernelRequest,
  type Logger,
  Reply,
  type ServiceName,
  type User,
} from "../../../kernel/index.ts";
import type { ActionContext, ActionRecord } from "./action-definition.ts";
import type { CompiledAction } from "./compile-action.ts";

/** How an action is reached: through a route, or by a call in the process. */
export interface ActionCall {
  readonly params: Readonly<Record<string, string>>;
  readonly root: string;
  readonly search: string;
  /** Undefined for calls in the process. */
  readonly request: KernelRequest | undefined;
}

/** One use of an action. */
interface ActionUse {
  readonly action: CompiledAction;
  readonly call: ActionCall;
  readonly query: Readonly<Record<string, unknown>>;
  readonly input: unknown;
  readonly record: ActionRecord | null;
  /** The use that the rules allow; undefined when the action's operations check the rules. */
  readonly allowed: RecordUse | undefined;
}

const UNPRINTABLE = /[^\x20-\x7e]/;

/** A class with getters: one is made per request, and most of its members are never read. */
class Context implements ActionContext {
  readonly action: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly input: unknown;
  readonly entity: AnyEntity;
  readonly record: ActionRecord | null;
  readonly rules: readonly string[] | undefined;
  readonly root: string;
  readonly search: string;
  readonly scope: OperationScope;
  readonly #use: ActionUse;
  readonly #plugin: PluginContext;

  constructor(plugin: PluginContext, use: ActionUse, scope: OperationScope) {
    this.action = use.action.name;
    this.params = use.call.params;
    this.query = use.query;
    this.input = use.input;
    this.entity = use.action.entity;
    this.record = use.record;
    this.rules = use.action.rules;
    this.root = use.call.root;
    this.search = use.call.search;
    // Operations of a handler written for the app check rules; what they read may be in the response.
    this.scope = use.allowed === undefined ? scope : notingScope(scope);
    this.#use = use;
    this.#plugin = plugin;
  }

  static allowed(context: object): RecordUse | undefined {
    return #use in context ? context.#use.allowed : undefined;
  }
  get headers(): ActionContext["headers"] {
    return { get: (name) => headerOf(this.#use.call.request, name) };
  }
  get user(): User | null {
    return this.scope.principal.user;
  }
  get driver(): Driver {
    return this.scope.driver;
  }
  get unsafeDriver(): Driver {
    return this.#plugin.driver;
  }
  get request(): unknown {
    return this.scope.exchange?.request.raw;
  }
  get signal(): AbortSignal | undefined {
    return this.scope.exchange?.signal;
  }
  get log(): Logger {
    return this.scope.app.log;
  }
  get body(): KernelBody | undefined {
    const { action, call } = this.#use;
    const body = call.request?.body;
    return body && boundedBody(body, mostBytes(action, this.scope));
  }
  get contentType(): string {
    return headerOf(this.#use.call.request, "content-type")?.toLowerCase() ?? "";
  }
  // Getters, because handlers destructure these functions.
  get client(): ActionContext["client"] {
    return <E extends EntityRef>(entity: E) => {
      const found = this.#plugin.clientFor(this.scope)[entityName(entity)];
      if (found === undefined) throw new EntityNotFoundError(`There is no entity "${entityName(entity)}"`);
      return found as unknown as EntityClient<E extends string ? AnyEntity : E>;
    };
  }
  get resolve(): <T = unknown>(service: ServiceName<T>) => T {
    return (service) => this.scope.services.resolve(service);
  }
  get resolveAsync(): <T = unknown>(service: ServiceName<T>) => Promise<T> {
    return (service) => this.scope.services.resolveAsync(service);
  }
  get transaction(): ActionContext["transaction"] {
    return (work) => this.scope.transaction((inner) => work(new Context(this.#plugin, this.#use, inner)));
  }
  get json(): ActionContext["json"] {
    return (data, status = 200) => new Reply(status, data);
  }
  get redirect(): ActionContext["redirect"] {
    return redirectTo;
  }
}

export function createContext(plugin: PluginContext, use: ActionUse, scope: OperationScope): ActionContext {
  return new Context(plugin, use, scope);
}

/** The use for which the action of a context was authorized. */
export const allowedUse = Context.allowed;

/** The largest body of an action, in bytes. */
export function mostBytes({ definition }: CompiledAction, { app: { limits } }: OperationScope): number {
  return definition.readsBody === "raw" ? limits.importBytes : limits.bodyBytes;
}

function headerOf(request: KernelRequest | undefined, name: string): string | null {
  const value = request?.headers[name.toLowerCase()];
  return value === undefined ? null : typeof value === "string" ? value : value.join(", ");
}

function redirectTo(location: string, status = 302): Reply {
  if (UNPRINTABLE.test(location)) throw new InternalError("A redirect needs an encoded URL");
  return new Reply(status, undefined, { location });
}

/** A response that is sent before the work is done, so its body does not match the action's declared output. */
export class Accepted extends Reply {
  constructor(body: unknown, headers: Reply["headers"]) {
    super(202, body, headers);
  }
}
