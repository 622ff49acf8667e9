import type { RemoteFetchOptions } from "../../../src/gate/index.ts";
import {
  belongsTo,
  datetime,
  entity,
  json,
  type KeelsonConfig,
  type Logger,
  memoryDriver,
  type RemoteService,
  type Row,
  string,
} from "../../../src/index.ts";
import { createTestApp, type TestApp } from "../../../src/testing/index.ts";

/** Entities of the service "billing". */
export const plan = entity("plan", { title: string, cost: string.readable("admin").optional() })
  .timestamps(false)
  .rules({ read: ["everyone"] });

export const subscription = entity("subscription", {
  title: string,
  secret: string.omit().optional(),
  pin: string.password().optional(),
  margin: string.readable("admin").optional(),
  endsAt: datetime.optional(),
  extra: json.optional(),
  plan: belongsTo(() => plan).optional(),
})
  .timestamps(false)
  .rules({ read: ["everyone"] });

/** The app's own entity. */
export const customer = entity("customer", {
  name: string,
  subscription: belongsTo(() => subscription)
    .remote("billing")
    .optional(),
})
  .timestamps(false)
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] });

/** One call of a service. */
export interface Call {
  readonly entity: string;
  readonly ids: readonly string[];
  readonly options: RemoteFetchOptions;
}

/** An in-process service that records its calls. */
export interface TestService extends RemoteService {
  readonly calls: Call[];
}

export function serviceOf(answer: (call: Call) => unknown, shared?: RemoteService["shared"]): TestService {
  const calls: Call[] = [];
  return {
    calls,
    shared,
    fetchByIds(name, ids, options = {}) {
      const call = { entity: name, ids: [...ids], options };
      calls.push(call);
      return answer(call) as Promise<readonly unknown[]>;
    },
  };
}

/** Records for ids, in the service's format. */
export function titled(ids: readonly string[], more: Row = {}): Row[] {
  return ids.map((id) => ({ id, title: `title of ${id}`, ...more }));
}

/** A service that has a record for every id. */
export function answering(more: Row = {}, shared?: RemoteService["shared"]): TestService {
  return serviceOf(({ ids }) => titled(ids, more), shared);
}

/** Customers c1 … with subscriptions s1 …. */
export function customers(count: number): Row[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `c${i + 1}`,
    name: `customer ${i + 1}`,
    subscriptionId: `s${i + 1}`,
  }));
}

/** One line of a log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly meta: Row;
}

/** A logger that stores its lines. */
export function keepingLog(): { readonly lines: LogLine[]; readonly logger: Logger } {
  const lines: LogLine[] = [];
  const at =
    (level: string) =>
    (message: string, meta: Row = {}) =>
      void lines.push({ level, message, meta });
  return { lines, logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}

type Config = Partial<Omit<KeelsonConfig, "getUser" | "entities" | "services">>;

/** An app whose customers have subscriptions in the service `billing`. */
export function shop(
  billing: RemoteService,
  { count = 3, ...config }: Config & { readonly count?: number } = {},
): TestApp<readonly [typeof customer]> {
  return createTestApp({
    entities: [customer],
    driver: memoryDriver({ customer: customers(count) }),
    services: { billing: () => billing },
    logger: keepingLog().logger,
    ...config,
  });
}
