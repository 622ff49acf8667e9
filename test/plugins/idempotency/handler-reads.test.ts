import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  bool,
  countAction,
  defineRule,
  entity,
  existsAction,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  string,
  toggleAction,
} from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";

const insider = defineRule("hrInsider", ({ user }) => user?.role === "insider");
const secret = entity("secret", { name: string, value: int, on: bool.default(true) })
  .rules({ read: [insider], update: ["authenticated"] })
  .actions({ exists: existsAction(), howMany: countAction(), flip: toggleAction("on") });
/** The methods for the actions, which are not in the types of a handler's client. */
const actionsOf = (client: object) =>
  client as Record<"exists" | "flip" | "howMany", (id?: string) => Promise<unknown>>;
const run = () => action().rules("authenticated");
const note = entity("note", { text: string })
  .rules({ read: ["authenticated"], create: ["authenticated"] })
  .actions({
    there: run().handler(async ({ client }) => ({ there: await actionsOf(client(secret)).exists("s1") })),
    many: run().handler(async ({ client }) => ({ many: await actionsOf(client(secret)).howMany() })),
    flip: run().handler(async ({ client }) => ({ now: await actionsOf(client(secret)).flip("s1") })),
    counted: run().handler(async ({ scope }) => ({ n: (await scope.run({ kind: "count", entity: "secret" })).total })),
    summed: run().handler(async ({ scope }) => {
      const query = { aggregate: { sum: ["value"] } };
      return { groups: (await scope.run({ kind: "count", entity: "secret", query })).groups };
    }),
    listed: run().handler(async ({ scope }) => {
      const { records } = await scope.run({ kind: "list", entity: "secret", query: {} });
      return { names: records.map(({ name }) => name) };
    }),
    shown: run().handler(({ scope }) =>
      scope.transaction(async (inner) => {
        const { records } = await inner.run({ kind: "read", entity: "secret", id: "s1" });
        return { name: records[0]?.name };
      }),
    ),
  });

describe("a repeated response of a handler", () => {
  let role = "insider";
  const driver = memoryDriver();
  const api = keelson({
    entities: [secret, note],
    driver,
    plugins: [idempotency()],
    logger: noopLogger,
    getUser: () => ({ id: "ann", role }),
  });
  beforeEach(async () => {
    await api.ready;
    role = "insider";
    await driver.deleteMany("secret", { id: { null: false } });
    await api.asSystem().secret.create({ id: "s1", name: "alpha", value: 42 });
  });
  afterAll(() => api.close());

  async function send(path: string, key: string): Promise<number> {
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const init = { method: "POST", headers, body: "{}" };
    return (await api.fetch(new Request(`http://test.invalid/api/notes/${path}`, init))).status;
  }

  it.each(["there", "many", "flip", "counted", "summed", "listed", "shown"])(
    "is refused once the caller may no longer read what it depends on: %s",
    async (path) => {
      expect([await send(path, path), await send(path, path)]).toEqual([200, 200]);
      role = "outsider";
      expect(await send(path, path)).toBe(403);
    },
  );
});
