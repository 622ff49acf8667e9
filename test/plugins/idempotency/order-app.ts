import {
  action,
  belongsTo,
  bulkUpdateAction,
  createPlugin,
  type Driver,
  endpoint,
  entity,
  importAction,
  int,
  type KeelsonConfig,
  keelson,
  noopLogger,
  type Plugin,
  Reply,
  step,
  string,
  workflows,
} from "keelson";
import { type IdempotencyOptions, idempotency } from "keelson/idempotency";
import type { WorkflowsOptions } from "../../../src/plugins/workflows/index.ts";
import { type JsonResponse, type RequestInit, request, startApp } from "../../support/http.ts";

/** Users whose rights may change between two attempts. */
export interface Caller {
  readonly id: string;
  role?: string;
}

const customer = entity("customer", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["admin"] });

export interface OrderAppOptions extends Partial<Pick<KeelsonConfig, "clock" | "encryption" | "limits" | "logger">> {
  readonly driver: Driver;
  readonly keys?: IdempotencyOptions;
  /** Called in the handler of the action `pay`, and in the step of `ship`. */
  readonly work?: (token: string | undefined) => unknown;
  /** The card's last digits are encrypted. @default false */
  readonly encrypted?: boolean;
  readonly plugins?: readonly Plugin[];
  /** @default without a journal */
  readonly workflows?: WorkflowsOptions;
}

/** A shop on a real server: orders that callers create, pay and ship. Tokens are ids of callers. */
export async function orderApp({
  driver,
  keys = {},
  work = () => undefined,
  encrypted = false,
  plugins = [],
  workflows: runs = {},
  ...config
}: OrderAppOptions) {
  const callers = new Map<string, Caller>();
  const card = string.optional();
  const order = entity("order", {
    item: string.min(2).max(40),
    pieces: int.default(1).min(1),
    note: string.optional().readable("admin"),
    card: encrypted ? card.encrypted() : card,
    customer: belongsTo(() => customer).optional(),
  })
    .ownedBy("customer")
    .versioned()
    .rules({
      read: ["authenticated"],
      create: ["authenticated"],
      update: ["authenticated"],
      delete: ["authenticated"],
    })
    .actions({
      "bulk-update": bulkUpdateAction,
      import: importAction,
      pay: action()
        .onResource()
        .handler(async ({ record, client, scope }) => {
          const paid = await client("order").update(record.id, { item: "paid" });
          await work(scope.state.idempotencyKey);
          return { paid: (paid as { id: string }).id, token: scope.state.idempotencyKey ?? null };
        }),
      refuse: action().handler(async ({ client, json }) => {
        await client("order").create({ item: "refused" });
        return json({ code: "NO", message: "returned, not thrown", status: 409 }, 409);
      }),
      large: action().handler(async ({ client }) => {
        await client("order").create({ item: "large" });
        return { text: "x".repeat(3_000) };
      }),
      wide: action().handler(async ({ client }) => {
        await client("order").create({ item: "wide" });
        return { text: "x".repeat(3_000) };
      }),
      stream: action().handler(async ({ client }) => {
        await client("order").create({ item: "stream" });
        return new Reply(200, chunks(), { "content-type": "text/plain" });
      }),
      bytes: action().handler(
        () => new Reply(200, Uint8Array.from([0, 255, 128]), { "content-type": "application/octet-stream" }),
      ),
      cookie: action().handler(
        () => new Reply(200, { ok: true }, { "set-cookie": "session=secret; HttpOnly", "x-other": "kept" }),
      ),
      keep: action().handler(async ({ client, scope }) => {
        const { id } = (await client("order").create({ item: "kept" })) as { id: string };
        await work(scope.state.idempotencyKey);
        return { id };
      }),
      apart: action().handler(async ({ client, scope }) => {
        await client("order").create({ item: "apart" });
        await work(scope.state.idempotencyKey);
        return { apart: scope.isTransaction };
      }),
      ship: action()
        .input({ item: string })
        .workflow([
          step("work", ({ runId }) => work(runId)),
          step("ship", async ({ input, runId, driver: own }) => {
            await own.create("order", { id: `s-${runId}`, item: (input as { item: string }).item, pieces: 1 });
            return { shipped: runId };
          }),
        ]),
    });
  const endpoints = createPlugin({
    id: "desk",
    endpoints: {
      "take-note": endpoint("/desk/notes", {
        method: "POST",
        rules: ["authenticated"],
        handler: async ({ scope }) => {
          await scope.run({ kind: "create", entity: "order", data: { item: "from the desk" } });
          return new Reply(201, { noted: true });
        },
      }),
      "close-desk": endpoint("/desk/close", { method: "POST", rules: ["admin"], handler: () => ({ closed: true }) }),
      "open-door": endpoint("/desk/door", { method: "POST", rules: ["everyone"], handler: () => ({ open: true }) }),
    },
  });
  const api = keelson({
    entities: [customer, order],
    driver,
    logger: noopLogger,
    plugins: (defaults) =>
      [endpoints, idempotency(keys), ...plugins].reduce(
        (list, plugin) => list.with(plugin),
        defaults.replace("workflows", workflows(runs)),
      ),
    getUser: ({ headers }) => {
      const id = headers.get("authorization")?.slice("Bearer ".length);
      return id === undefined ? null : { ...(callers.get(id) ?? { id }) };
    },
    ...config,
  });
  const { url, close } = await startApp(api);
  for (const id of ["ann", "bob"]) {
    const known = await api.asSystem().customer.list({ where: { id } });
    if (known.total === 0) await api.asSystem().customer.create({ id, name: id });
  }
  const send = (method: string, path: string, key?: string, init: RequestInit = {}): Promise<JsonResponse> => {
    const headers = { ...init.headers, ...(key === undefined ? {} : { "idempotency-key": key }) };
    return request(url, method, path, { token: "ann", ...init, headers });
  };
  return {
    api,
    url,
    close,
    callers,
    send,
    /** Creates an order as Ann, unless `init` says otherwise. */
    create: (key?: string, body: unknown = { item: "rope" }, init: RequestInit = {}) =>
      send("POST", "/api/orders", key, { body, ...init }),
    orders: async () => (await api.asSystem().order.list()).data,
    keys: () => api.driver.findMany("idempotencyKey"),
  };
}

async function* chunks() {
  yield "a";
  yield "b";
}

/** A response without its unique parts. */
export function sameAnswer({ status, headers, json }: JsonResponse) {
  const { "x-request-id": _, "idempotency-replayed": __, date: ___, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, json };
}
