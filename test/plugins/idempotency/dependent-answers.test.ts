import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  createPlugin,
  defineRule,
  endpoint,
  entity,
  executeWorkflow,
  hasMany,
  keelson,
  memoryDriver,
  noopLogger,
  runWorkflow,
  step,
  string,
} from "../../../src/index.ts";
import type { OperationScope } from "../../../src/plugin.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";

const insider = defineRule("deskInsider", ({ user }) => user?.role === "insider");
const boss = defineRule("deskBoss", ({ user }) => ({ boss: String(user?.role) }));
const signedIn = ["authenticated"] as const;

const team = entity("team", { name: string, desks: hasMany(() => desk) }).rules({ read: [insider] });
const secret = entity("secret", { name: string.unique(), team: belongsTo(() => team).optional() }).rules({
  read: [insider],
  create: signedIn,
  update: signedIn,
  delete: signedIn,
});
const desk = entity("desk", { name: string, team: belongsTo(() => team).optional() }).rules({ read: signedIn });
const room = entity("room", { boss: string, code: string.readable(boss) }).rules({ read: signedIn });

interface Client {
  count(where: Readonly<Record<string, unknown>>): Promise<number>;
  list(options: object): Promise<{ readonly data: readonly { readonly id: string }[] }>;
}
interface Given {
  readonly scope: OperationScope;
  client(name: string): Client;
}
const run = (scope: OperationScope, kind: "read" | "list" | "count" | "update" | "create" | "delete", input: object) =>
  scope.run({ kind, entity: "secret", ...input });
const ofTeam = { team: { name: "Night" } };

/** Responses that depend on a right which the caller loses, without showing a record. */
const handlers: Record<string, (given: Given) => Promise<unknown>> = {
  async listed({ scope }) {
    return { names: (await run(scope, "list", { query: {} })).records.map(({ name }) => name) };
  },
  async read({ scope }) {
    return { name: (await run(scope, "read", { id: "s" })).records[0]?.name };
  },
  async missed({ scope }) {
    const found = await run(scope, "read", { id: "none" }).catch((error: { readonly status: number }) => {
      if (error.status === 404) return undefined;
      throw error;
    });
    return { there: found !== undefined };
  },
  async missing({ scope }) {
    return { there: (await run(scope, "read", { id: "none", ifFound: true })).applied };
  },
  async counted({ scope }) {
    return { n: (await run(scope, "count", {})).total };
  },
  async changed({ scope }) {
    return { name: (await run(scope, "update", { id: "s", data: { teamId: null } })).records[0]?.name };
  },
  async created({ scope }) {
    return { name: (await run(scope, "create", { data: { name: crypto.randomUUID() } })).records[0]?.name };
  },
  async deleted({ scope }) {
    return { applied: (await run(scope, "delete", { id: "s" })).applied };
  },
  async changedSeveral({ scope }) {
    return { n: (await run(scope, "update", { ids: ["s", "t"], data: { teamId: null } })).total };
  },
  async included({ scope }) {
    const query = { include: { team: {} } };
    const { records } = await scope.run({ kind: "read", entity: "desk", id: "d", query });
    return { name: (records[0]?.team as { readonly name?: string } | undefined)?.name };
  },
  inTransaction({ scope }) {
    return scope.transaction(async (inner) => ({ name: (await run(inner, "read", { id: "s" })).records[0]?.name }));
  },
  async filtered({ client }) {
    return { n: await client("desk").count(ofTeam) };
  },
  async sorted({ client }) {
    return { ids: (await client("desk").list({ sort: ["team.name"] })).data.map(({ id }) => id) };
  },
  async perRecord({ client }) {
    return { n: await client("room").count({ code: "1234" }) };
  },
};

const named = Object.entries(handlers);
const note = entity("note", { text: string })
  .rules({ read: signedIn })
  .actions({
    ...Object.fromEntries(
      named.map(([name, work]) => [
        name,
        action()
          .rules("authenticated")
          .handler(work as never),
      ]),
    ),
    ...Object.fromEntries(
      named.map(([name, work]) => [
        `${name}InStep`,
        action()
          .rules("authenticated")
          .workflow([step("work", work as never)]),
      ]),
    ),
    ...Object.fromEntries(
      [runWorkflow, executeWorkflow].flatMap((start) =>
        named.map(([name, work]) => [
          `${name}In${start.name}`,
          action()
            .rules("authenticated")
            .handler(async ({ scope }) => ({ ran: await start([step("work", work as never)], { scope }) })),
        ]),
      ),
    ),
  });
const desks = createPlugin({
  id: "test/desks",
  setup: ({ clientFor }) => ({ clientFor }),
  endpoints: Object.fromEntries(
    named.map(([name, work]) => [
      name,
      endpoint<{ clientFor(scope: OperationScope): Record<string, Client> }>(`/desks/${name}`, {
        method: "POST",
        rules: ["authenticated"],
        handler: ({ scope }, { clientFor }) => work({ scope, client: (entity) => clientFor(scope)[entity] as Client }),
      }),
    ]),
  ),
});

describe("a response that depends on what its handler did", () => {
  let role = "insider";
  const driver = memoryDriver();
  const api = keelson({
    entities: [team, secret, desk, room, note],
    driver,
    plugins: [idempotency({ withoutTransaction: named.map(([name]) => `note.${name}InrunWorkflow`) }), desks],
    logger: noopLogger,
    getUser: () => ({ id: "ann", role }),
  });
  beforeEach(async () => {
    await api.ready;
    role = "insider";
    for (const name of ["desk", "secret", "team", "room"] as const)
      await driver.deleteMany(name, { id: { null: false } });
    const system = api.asSystem();
    await system.team.create({ id: "t", name: "Night" });
    await system.secret.create({ id: "s", name: "alpha", teamId: "t" });
    await system.desk.create({ id: "d", name: "Desk", teamId: "t" });
    await system.room.create({ id: "r", boss: "insider", code: "1234" });
  });
  afterAll(() => api.close());

  async function send(path: string, key: string, init: RequestInit = { method: "POST", body: "{}" }) {
    const headers = { "content-type": "application/json", "idempotency-key": key };
    return (await api.fetch(new Request(`http://test.invalid${path}`, { ...init, headers }))).status;
  }

  describe.each([
    ["of an action", (name: string) => `/api/notes/${name}`],
    ["of a workflow's step", (name: string) => `/api/notes/${name}InStep`],
    ["of an action that runs a workflow", (name: string) => `/api/notes/${name}InrunWorkflow`],
    ["of an action that executes a workflow", (name: string) => `/api/notes/${name}InexecuteWorkflow`],
    ["of a plugin's endpoint", (name: string) => `/desks/${name}`],
  ])("%s", (_, path) => {
    it.each(named.map(([name]) => name))("is not repeated once the right to it is lost: %s", async (name) => {
      const key = crypto.randomUUID();
      expect([await send(path(name), key), await send(path(name), key)]).toEqual([200, 200]);
      role = "outsider";
      expect(await send(path(name), key)).toBe(403);
    });
  });

  it("is repeated after an upsert although other records were added", async () => {
    const key = crypto.randomUUID();
    const init = { method: "PUT", body: JSON.stringify({ name: "beta" }) };
    expect(await send("/api/secrets?_on=name", key, init)).toBe(201);
    await api.asSystem().secret.create({ name: "gamma" });
    expect(await send("/api/secrets?_on=name", key, init)).toBe(201);
  });
});
