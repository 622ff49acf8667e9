import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  ConflictError,
  defineRule,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  step,
  string,
  workflows,
} from "../../../src/index.ts";
import type { OperationScope } from "../../../src/plugin.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { deferred } from "../../support/deferred.ts";

const HOUR = 3_600_000;
const signedIn = ["authenticated"] as const;
const insider = defineRule("lostInsider", ({ user }) => user?.role === "insider");
const ofRole = defineRule("lostOfRole", ({ user }) => ({ tenant: String(user?.role) }));

const doc = entity("doc", { tenant: string, code: string.readable(insider), mark: string.readable(ofRole) })
  .rules({ read: signedIn })
  .actions({
    share: action()
      .onResource()
      .rules(ofRole)
      .handler(({ record }) => ({ link: `/shared/${record.id}` })),
  });
const letter = entity("letter", { tenant: string }).rules({ read: [ofRole] });
const secret = entity("secret", { text: string }).rules({ read: [insider] });

interface Client {
  get(id: string): Promise<Readonly<Record<string, unknown>>>;
  count(where: object): Promise<number>;
  share(id: string): Promise<unknown>;
}
interface Given {
  readonly scope: OperationScope;
  client(entity: object): Client;
}
/** What a step reads, and returns without the record. */
const reads: Record<string, (given: Given) => Promise<unknown>> = {
  "a field": async ({ client }) => (await client(doc).get("d")).code,
  "a field that some records show": async ({ client }) => (await client(doc).get("d")).mark,
  "a number of records": ({ client }) => client(letter).count({}),
  "a number of records that a hidden field selects": ({ client }) => client(doc).count({ code: "1234" }),
  "the result of a record's action": ({ client }) => client(doc).share("d"),
  "that there is no record": async ({ scope }) =>
    (await scope.run({ kind: "read", entity: "secret", id: "none", ifFound: true })).applied,
};
const cases = Object.keys(reads);

let driver: ReturnType<typeof memoryDriver>;
let role: string;
let runs: number;
let released: ReturnType<typeof deferred<void>>;
const apps: { close(): Promise<unknown> }[] = [];
beforeEach(() => {
  driver = memoryDriver({
    doc: [{ id: "d", tenant: "insider", code: "1234", mark: "red" }],
    letter: [{ id: "l", tenant: "insider" }],
  });
  role = "insider";
  runs = 0;
  released = deferred<void>();
});
afterEach(async () => {
  released.resolve();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** A process whose second step waits for `until`. */
async function started(aheadMs = 0, until?: Promise<void>) {
  const note = entity("note", { text: string })
    .rules({ read: signedIn })
    .actions({
      ...Object.fromEntries(
        cases.map((name, index) => [
          `ask${index}`,
          action()
            .rules("authenticated")
            .workflow([
              step("read", async (given) => ({ found: (await reads[name]?.(given as never)) ?? null })),
              step(
                "tell",
                async ({ results }) => {
                  runs += 1;
                  await until;
                  return results.read;
                },
                undefined,
                { idempotent: true },
              ),
            ]),
        ]),
      ),
      charge: action()
        .rules("authenticated")
        .handler(({ scope }) => {
          tokens.push(scope.state.idempotencyKey);
          if (tokens.length === 1) throw new Error("after the charge");
          if (tokens.length === 2) throw new ConflictError("for now");
          return { charged: true };
        }),
    });
  const api = keelson({
    entities: [doc, letter, secret, note],
    driver,
    logger: noopLogger,
    clock: { now: () => new Date(Date.now() + aheadMs) },
    plugins: (defaults) =>
      defaults.replace("workflows", workflows({ journal: { recoveryMs: 50 } })).with(idempotency()),
    getUser: () => ({ id: "ann", role }),
  });
  apps.push(api);
  await api.ready;
  return async (name: string) => {
    const headers = { "content-type": "application/json", "idempotency-key": "k" };
    const path = `http://test.invalid/api/notes/${name}`;
    return (await api.fetch(new Request(path, { method: "POST", headers, body: "{}" }))).status;
  };
}
const tokens: unknown[] = [];

/** Another process, after one has died in the second step. */
async function afterDeath(name: string) {
  const dying = await started(0, released.promise);
  void dying(name);
  await expect.poll(() => runs).toBe(1);
  return async () => (await started(HOUR))(name);
}

describe("the run of a dead process", () => {
  it.each(cases)("has its response sent while the rights are the same: %s", async (name) => {
    const send = await afterDeath(`ask${cases.indexOf(name)}`);
    expect(await send()).toBe(200);
  });

  it.each(cases)("has its response withheld once the right is lost to %s", async (name) => {
    const send = await afterDeath(`ask${cases.indexOf(name)}`);
    role = "outsider";
    expect(await send()).toBe(403);
  });

  it("does not run again after its response was withheld", async () => {
    const dying = await started(0, released.promise);
    void dying("ask0");
    await expect.poll(() => runs).toBe(1);
    role = "outsider";
    const send = await started(HOUR);
    expect([await send("ask0"), await send("ask0")]).toEqual([403, 403]);
    role = "insider";
    expect(await send("ask0")).toBe(200);
    expect(await driver.count("workflowRun")).toBe(1);
  });
});

describe("a request that failed and is then refused", () => {
  it("keeps its token", async () => {
    const send = await started();
    const statuses = [await send("charge"), await send("charge"), await send("charge")];
    expect(statuses).toEqual([500, 409, 200]);
    expect(new Set(tokens).size).toBe(1);
  });
});
