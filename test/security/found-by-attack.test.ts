import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  createPlugin,
  defineRule,
  entity,
  idempotency,
  json,
  noopLogger,
  type Plugin,
  type Policy,
  string,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

const open = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const apps: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});
const start: typeof createTestApp = (config) => {
  const app = createTestApp({ logger: noopLogger, ...config });
  apps.push(app);
  return app;
};
const policy = (given: Policy): Plugin =>
  createPlugin({ id: "acme/policy", setup: ({ records }) => records.policy(given) });

describe("idempotency", () => {
  const order = entity("order", { item: string, meta: json.optional() })
    .rules(open)
    .actions({
      tally: action().handler(async ({ client }) => ({ n: await client("order").count({}) })),
    });

  it("takes the option transactions", () => {
    expect(() => start({ entities: [order], plugins: [idempotency({ transactions: 3 })] })).not.toThrow();
  });

  it("tells an empty list from an empty object", async () => {
    const app = start({ entities: [order], plugins: [idempotency()] });
    const send = async (meta: object): Promise<number> =>
      (await app.as({ id: "u" }).request("POST", "/api/orders", { item: "x", meta }, { "idempotency-key": "k" }))
        .status;
    expect(await send({})).toBe(201);
    expect(await send([])).toBe(422);
  });

  it("does not repeat a count once a policy hides all that was counted", async () => {
    let isHidden = false;
    const visible: Policy["visible"] = (question) => {
      if (isHidden && question.entity.name === "order") question.require({ id: { in: [] } });
    };
    const app = start({ entities: [order], plugins: [policy({ name: "hides", visible }), idempotency()] });
    await app.api.asSystem().order.create({ item: "x" });
    const tally = () => app.as({ id: "u" }).request("POST", "/api/orders/tally", {}, { "idempotency-key": "k" });
    expect((await tally()).body).toEqual({ n: 1 });
    isHidden = true;
    expect((await tally()).status).toBe(403);
  });
});

it("an operation that is refused leaves a transaction alone that another one writes in at the same time", async () => {
  const isOpen = defineRule("fbaOpen", () => ({ state: "open" }));
  const job = entity("job", { state: string, note: string.optional() })
    .rules({ ...open, update: [isOpen] })
    .actions({
      both: action().handler(({ transaction }) =>
        transaction(async ({ client }) => {
          const jobs = client("job") as unknown as { update(id: string, data: object): Promise<unknown> };
          const done: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled([
            jobs.update("b", { note: "written" }),
            jobs.update("a", { state: "closed" }),
          ]);
          return done.map(({ status }) => status);
        }),
      ),
    });
  const app = start({ entities: [job] });
  const system = app.api.asSystem();
  for (const id of ["a", "b"]) await system.job.create({ id, state: "open" });
  expect((await app.as({ id: "u" }).request("POST", "/api/jobs/both", {})).body).toEqual(["fulfilled", "rejected"]);
});
