import {
  belongsTo,
  entity,
  keelson,
  type Logger,
  memoryDriver,
  type RemoteService,
  string,
} from "../../../src/index.ts";
import type { RemoteJoinsOptions } from "../../../src/plugins/remote-joins/index.ts";
import { startApp } from "../http.ts";
import { subscription } from "./billing-entities.ts";

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"] } as const;

export const person = entity("person", { name: string }).rules(everybody);

/** Has relations of each kind: to a service, to the default driver, and to this app's own records. */
export const customer = entity("customer", {
  name: string,
  subscription: belongsTo(() => subscription)
    .remote("billing")
    .optional(),
  former: belongsTo(() => subscription)
    .remote("billing")
    .optional(),
  agent: belongsTo(() => person)
    .remote()
    .optional(),
  friend: belongsTo(() => person).optional(),
}).rules(everybody);

export interface ShopOptions {
  readonly services: Readonly<Record<string, () => RemoteService>>;
  readonly customers: readonly Readonly<Record<string, unknown>>[];
  readonly remoteJoins?: RemoteJoinsOptions;
}

/** An app in this process whose customers are joined with records of another app. */
export async function startShop({ services, customers, remoteJoins }: ShopOptions) {
  const lines: string[] = [];
  const line = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug() {}, info: line, warn: line, error: line };
  const api = keelson({
    entities: [customer, person],
    driver: memoryDriver({ customer: customers, person: [{ id: "eve", name: "Eve" }] }),
    ...(remoteJoins && { remoteJoins }),
    logger,
  });
  for (const [name, factory] of Object.entries(services)) api.registerService(name, factory);
  const { url, close } = await startApp(api);
  return { api, url, close, lines };
}

/** Customers c0, c1 … with the subscriptions s0, s1 … */
export function customersWithSubscriptions(count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, i) => ({ id: `c${i}`, name: `Customer ${i}`, subscriptionId: `s${i}` }));
}
