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

// A process dies in a run, another one ends it, and the request is sent again. Records are given away during the run or
// after it.

const HOUR = 3_600_000;
const signedIn = ["authenticated"] as const;
const mine = defineRule("givenMine", ({ user }) => ({ owner: String(user?.id) }));
defineRule("givenManaged", ({ user }) => ({ owner: String(user?.id) }));
const insider = defineRule("givenInsider", ({ user }) => user?.role === "insider");
const doc = entity("doc", { owner: string, mark: string.readable(mine) }).rules({ read: signedIn });
const letter = entity("letter", { owner: string, text: string }).rules({ read: [mine] });
const task = entity("task", { owner: string, text: string }).rules({ read: [insider] });
const secret = entity("secret", { text: string, code: string.readable(insider) }).rules({ read: signedIn });

interface Client {
  get(id: string): Promise<Readonly<Record<string, unknown>>>;
  count(where?: object): Promise<number>;
  aggregate(options: object): Promise<unknown>;
  list(options: object): Promise<{ readonly total: number }>;
}
interface Given {
  readonly scope: OperationScope;
  client(entity: object): Client;
}
const byRules = { entity: "task", rules: ["givenManaged"] } as const;
/** What the first step reads, and the entity of the record. */
const reads: readonly (readonly [string, string, (given: Given) => Promise<unknown>])[] = [
  ["a text", "letter", async ({ client }) => (await client(letter).get("r")).text],
  ["a count", "letter", ({ client }) => client(letter).count()],
  ["groups by a text", "letter", ({ client }) => client(letter).aggregate({ group: ["text"], count: true })],
  ["the largest text", "letter", ({ client }) => client(letter).aggregate({ max: ["text"] })],
  ["a total", "letter", async ({ client }) => (await client(letter).list({ select: ["id"] })).total],
  ["a field that some records show", "doc", async ({ client }) => `is ${(await client(doc).get("r")).mark}`],
  ["a count by such a field", "doc", ({ client }) => client(doc).count({ mark: "red" })],
  [
    "a record by rules of its own",
    "task",
    async ({ scope }) => {
      const { records } = await scope.run({ ...byRules, kind: "read", id: "r", query: { select: ["id"] } });
      return records.length;
    },
  ],
  ["a count by rules of its own", "task", async ({ scope }) => (await scope.run({ ...byRules, kind: "count" })).total],
];

let driver: ReturnType<typeof memoryDriver>;
let role: string;
let reached: number;
const apps: { close(): Promise<unknown> }[] = [];
const never = new Promise<void>(() => {});
beforeEach(() => {
  driver = memoryDriver({
    doc: [{ id: "r", owner: "ann", mark: "red" }],
    letter: [{ id: "r", owner: "ann", text: "hello" }],
    task: [{ id: "r", owner: "ann", text: "hello" }],
    secret: [{ id: "s", text: "alpha", code: "1234" }],
  });
  role = "insider";
  reached = 0;
});
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())).then(() => {}));

/** A process; the first one waits for ever in the second step, or after a failed step. */
async function started(aheadMs: number, dies: boolean) {
  const wait = async () => {
    reached += 1;
    if (dies) await never;
  };
  const second = step(
    "second",
    async ({ results }) => {
      await wait();
      return results.first;
    },
    undefined,
    { idempotent: true },
  );
  const run = () => action().rules("authenticated");
  const note = entity("note", { text: string })
    .rules({ read: signedIn })
    .actions({
      ...Object.fromEntries(
        reads.map(([, , read], index) => [
          `ask${index}`,
          run().workflow([step("first", async (given) => ({ found: await read(given as never) })), second]),
        ]),
      ),
      fields: run().workflow([
        step("first", async (given) => ({
          found: (await (given as never as Given).client(secret).get("s")).code ?? null,
        })),
        second,
        step("third", async (given) => ({
          found: (await (given as never as Given).client(secret).get("s")).code ?? null,
        })),
      ]),
      fails: run().workflow({
        name: "note.fails",
        steps: [
          step("begin", async () => ({ ok: true })),
          step("refuse", async (given) => {
            throw new ConflictError(`It is ${(await (given as never as Given).client(secret).get("s")).code}`);
          }),
        ],
        hooks: { onStepFailed: wait },
      } as never),
    });
  const api = keelson({
    entities: [doc, letter, task, secret, note],
    driver,
    logger: noopLogger,
    limits: { hookMs: HOUR },
    clock: { now: () => new Date(Date.now() + aheadMs) },
    plugins: (defaults) =>
      defaults
        .replace("workflows", workflows({ journal: { recoveryMs: 20 }, userOf: () => ({ id: "ann", role }) }))
        .with(idempotency()),
    getUser: () => ({ id: "ann", role }),
  });
  await api.ready;
  if (!dies) apps.push(api);
  return async (name: string): Promise<[number, string]> => {
    const headers = { "content-type": "application/json", "idempotency-key": "k" };
    const path = `http://test.invalid/api/notes/${name}`;
    const response = await api.fetch(new Request(path, { method: "POST", headers, body: "{}" }));
    return [response.status, await response.text()];
  };
}

/** Another process, after one has died in the second step. */
async function afterDeath(name: string, meanwhile: () => unknown = () => {}) {
  void (await started(0, true))(name);
  await expect.poll(() => reached).toBe(1);
  await meanwhile();
  const send = await started(HOUR, false);
  await expect.poll(async () => (await driver.findMany("workflowRun", {}))[0]?.status).toMatch(/completed|compensated/);
  return send;
}

const give = (name: string) => driver.update(name, { id: "r" }, { owner: "bob" });

describe("a request that is sent again to the run of a dead process", () => {
  it.each(reads)("has the response while the record stays: %s", async (what) => {
    const send = await afterDeath(`ask${reads.findIndex(([name]) => name === what)}`);
    expect((await send(`ask${reads.findIndex(([name]) => name === what)}`))[0]).toBe(200);
  });

  // That a record was found by rules of the step counts as far as the caller still had the right after the last step.
  const shown = reads.filter(([what]) => what !== "a record by rules of its own");
  it.each(shown)("is refused if the record was given away during the run: %s", async (what, of) => {
    const name = `ask${reads.findIndex(([one]) => one === what)}`;
    const send = await afterDeath(name, () => give(of));
    expect((await send(name))[0]).toBe(403);
  });

  it.each(reads)("is refused if the record was given away after the run: %s", async (what, of) => {
    const name = `ask${reads.findIndex(([one]) => one === what)}`;
    const send = await afterDeath(name);
    await give(of);
    expect((await send(name))[0]).toBe(403);
  });

  it("is refused if the record was given away and then deleted", async () => {
    const send = await afterDeath("ask0");
    await give("letter");
    await driver.deleteMany("letter", { id: "r" });
    expect((await send("ask0"))[0]).toBe(403);
  });

  it("is refused if a later step has read with more rights", async () => {
    role = "outsider";
    const send = await afterDeath("fields", () => {
      role = "insider";
    });
    role = "outsider";
    expect((await send("fields"))[0]).toBe(403);
  });

  it("does not tell the error of a failed step once the right to what it read is lost", async () => {
    const send = await afterDeath("fails");
    expect(await send("fails")).toMatchObject([409, expect.stringContaining("It is 1234")]);
    role = "outsider";
    expect(await send("fails")).toMatchObject([403, expect.not.stringContaining("1234")]);
  });
});
