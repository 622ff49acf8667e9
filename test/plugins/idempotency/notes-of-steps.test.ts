import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  DatabaseUnavailableError,
  defineRule,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  type Step,
  step,
  string,
  updateEntityStep,
  workflows,
} from "../../../src/index.ts";
import { createPlugin, withMiddleware } from "../../../src/plugin.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";

const mine = defineRule("notedMine", ({ user }) => ({ owner: String(user?.id) }));
const paid = defineRule("notedPaid", () => ({ state: "paid" }));
const own = () => action().rules("authenticated");
interface Given {
  readonly attempt: number;
  client(name: string): {
    get(id: string): Promise<{ readonly name: string }>;
    create(data: object): Promise<{ readonly id: string }>;
  };
}

let failing = 0;
let charged: number[] = [];
let refunded = 0;
/** A database that is away for one read. */
const away = createPlugin({
  id: "away",
  version: "1.0.0",
  setup() {},
  wrapDriver: (inner) =>
    withMiddleware(inner, (statement, next) => {
      if (failing === 0 || statement.kind !== "find" || statement.entity.name !== "doc") return next(statement);
      failing -= 1;
      throw new DatabaseUnavailableError("away");
    }),
});
const doc = entity("doc", { owner: string, name: string, state: string.default("paid") }).rules({
  read: [mine],
  create: ["authenticated"],
  update: ["authenticated"],
});
const charge = async (given: unknown) => {
  const { client, attempt } = given as Given;
  const { name } = await client("doc").get("d");
  charged.push(attempt);
  failing = charged.length === 1 ? 1 : 0;
  return { charged: name };
};
const chargeStep = step("charge", charge, async () => void (refunded += 1), { retry: { attempts: 3, delay: 1 } });

/** A step in one transaction, whose first attempt is rolled back. */
const make: Step = {
  name: "make",
  atomic: true,
  retry: { attempts: 2, delay: 1 },
  async execute(given: unknown) {
    const { client, attempt } = given as Given;
    const { id } = await client("doc").create({ owner: "ann", name: "new" });
    if (attempt === 1) throw new Error("once");
    return { id };
  },
};

const apps: { close(): Promise<unknown> }[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())).then(() => {}));

async function started(journal: boolean) {
  failing = 0;
  charged = [];
  refunded = 0;
  const note = entity("note", { text: string })
    .rules({ read: ["authenticated"] })
    .actions({
      run: own().workflow([chargeStep, step("end", async () => ({ done: true }))]),
      handler: own().handler((given) => charge({ ...given, client: given.client, attempt: 1 })),
      flaky: own().workflow([make]),
    });
  const shop = doc.actions({
    ship: action()
      .onResource()
      .rules(paid)
      .workflow([
        updateEntityStep("doc", { id: "d" }, { state: "shipped" }) as never,
        step("tell", () => ({ shipped: true })),
      ]),
  });
  const api = keelson({
    entities: [shop, note],
    driver: memoryDriver({ doc: [{ id: "d", owner: "ann", name: "n", state: "paid" }] }),
    logger: noopLogger,
    plugins: (defaults) =>
      defaults
        .replace("workflows", workflows({ journal }))
        .with(idempotency({ withoutTransaction: ["note.handler"], leaseMs: 20 }), away),
    getUser: () => ({ id: "ann" }),
  });
  apps.push(api);
  await api.ready;
  return async (path: string): Promise<[number, unknown]> => {
    const headers = { "content-type": "application/json", "idempotency-key": "k" };
    const init = { method: "POST", headers, body: "{}" };
    const response = await api.fetch(new Request(`http://test.invalid/api/${path}`, init));
    return [response.status, response.ok ? await response.json() : null];
  };
}

describe.each([true, false])("a workflow with a key, journal: %s", (journal) => {
  it("does not fail because the rights to what it reads cannot be noted", async () => {
    const send = await started(journal);
    expect(await send("notes/run")).toEqual([200, { done: true }]);
    expect([charged, refunded]).toEqual([[1], 0]);
  });

  it("has its response repeated if an atomic step succeeded in its second attempt", async () => {
    const send = await started(journal);
    const first = await send("notes/flaky");
    expect(first).toEqual([200, { id: expect.any(String) }]);
    expect(await send("notes/flaky")).toEqual(first);
  });

  it("has its response repeated although it ended the right to its action", async () => {
    const send = await started(journal);
    expect(await send("docs/d/ship")).toEqual([200, { shipped: true }]);
    expect(await send("docs/d/ship")).toEqual([200, { shipped: true }]);
  });
});

describe("a handler outside of a transaction", () => {
  it("is not carried out again if the rights to its response could not be noted", async () => {
    const send = await started(false);
    expect(await send("notes/handler")).toEqual([200, { charged: "n" }]);
    expect(await send("notes/handler")).toEqual([409, null]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await send("notes/handler")).toEqual([409, null]);
    expect(charged).toEqual([1]);
  });
});
