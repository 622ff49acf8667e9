import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  action,
  entity,
  executeWorkflow,
  memoryDriver,
  type StepContext,
  step,
  string,
  workflow,
} from "../../../src/index.ts";
import { deferred } from "../../support/deferred.ts";
import { workflowApp } from "../../support/workflows/workflow-app.ts";

// Input, data and results of a run.

type Cart = { items: string[] };
type Input = { count: number };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("the input of a step", () => {
  it("is a copy in each attempt: a failed one has changed nothing", async () => {
    const seen: unknown[] = [];
    const { results, data } = await executeWorkflow(
      workflow<Input>("tries")
        .withData({ cart: { items: [] } })
        .step(
          "try",
          ({ get, input, attempt }) => {
            seen.push([[...(get<Cart>("cart")?.items ?? [])], input.count]);
            get<Cart>("cart")?.items.push(`try ${attempt}`);
            input.count += 1;
            if (attempt < 3) throw new TypeError("again");
          },
          undefined,
          { retry: { attempts: 3, delay: 0 } },
        )
        .step("after", ({ get, input }) => [get("cart"), input.count]),
      { input: { count: 1 } },
    );
    expect(seen).toEqual([
      [[], 1],
      [[], 1],
      [[], 1],
    ]);
    expect(results.after).toEqual([{ items: ["try 3"] }, 1]);
    expect(data).toEqual({ cart: { items: ["try 3"] } });
  });

  it("is not shared: a step that continues after its timeout changes nothing", async () => {
    const late = deferred<void>();
    const changed = deferred<void>();
    const input = { count: 1 };
    const { data } = await executeWorkflow(
      workflow<Input>("late")
        .withData({ cart: { items: [] } })
        .step(
          "late",
          async (context) => {
            const { get } = context;
            const cart = get<Cart>("cart");
            await late.promise;
            cart?.items.push("zombie");
            context.input.count = 99;
            changed.resolve();
          },
          async (context) => {
            late.resolve();
            await changed.promise;
            context.set("seen", [context.get("cart"), context.input.count]);
          },
          { timeout: 5 },
        ),
      { input },
    );
    expect([data, input]).toEqual([{ cart: { items: [] }, seen: [{ items: [] }, 1] }, { count: 1 }]);
  });

  it("may be of any kind, which it keeps", async () => {
    class Money {
      readonly amount = 3;
    }
    const given = {
      at: new Date(0),
      map: new Map([["a", [1]]]),
      set: new Set([1]),
      money: new Money(),
      make: () => 4,
    };
    const circle: Record<string, unknown> = { given };
    circle.self = circle;
    const { results, status } = await executeWorkflow(
      [
        step("seen", ({ input, set }: StepContext<typeof circle>) => {
          set("input", input);
          return input;
        }),
        step("later", ({ get }) => get("input")),
      ],
      { input: circle },
    );
    const seen = results.later as typeof circle & { given: typeof given };
    expect([status, seen.self === seen, seen.given]).toEqual(["completed", true, given]);
    expect([seen === circle, seen.given.money === given.money, seen.given.at === given.at]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("remains a record of its entity, and is masked as such", async () => {
    const note = entity("note", {
      text: string,
      inner: string.omit().optional(),
      pay: string.optional().readable("admin"),
    })
      .rules({ read: ["everyone"] })
      .actions({
        show: action()
          .rules("authenticated")
          .workflow([
            step("load", async ({ driver, set }) => set("note", await driver.findOne("note", { id: "n" }))),
            step("show", ({ get }) => get("note")),
          ]),
      });
    const app = await workflowApp({ driver: memoryDriver(), entities: [note], journal: false });
    cleanups.push(app.close);
    const system = app.api.asSystem() as unknown as { note: { create(data: object): Promise<unknown> } };
    await system.note.create({ id: "n", text: "shown", inner: "hidden", pay: "hidden" });
    const { body } = await app.as({ id: "ann" }).request("POST", "/api/notes/show", {});
    expect(body).toMatchObject({ id: "n", text: "shown" });
    expect(JSON.stringify(body)).not.toContain("hidden");
  });

  it("has no inherited property names", async () => {
    const { results, data } = await executeWorkflow([
      step("__proto__", ({ set }) => {
        set("__proto__", { admin: true });
        return { inherited: true };
      }),
      step("seen", ({ get, results: before }) => [
        get("admin"),
        get("toString"),
        get("__proto__"),
        Object.keys(before),
        before.inherited,
      ]),
    ]);
    expect(results.seen).toEqual([undefined, undefined, { admin: true }, ["__proto__"], undefined]);
    expect([Object.keys(results), Object.keys(data), data.admin]).toEqual([
      ["__proto__", "seen"],
      ["__proto__"],
      undefined,
    ]);
  });

  it("has results that are created lazily", async () => {
    const looked: string[] = [];
    const result = Object.defineProperty({}, "read", { enumerable: true, get: () => looked.push("read") });
    const steps = [step("one", () => result), step("two", () => 2)];
    const { results } = await executeWorkflow(steps);
    expect([Object.keys(results), looked]).toEqual([["one", "two"], []]);
  });
});

it("a signal keeps no listeners", async () => {
  const { signal } = new AbortController();
  const twice = step("twice", ({ attempt }) => (attempt < 2 ? Promise.reject(new TypeError("again")) : 1), undefined, {
    retry: { attempts: 2, delay: 1 },
  });
  expect((await executeWorkflow([twice], { signal })).status).toBe("completed");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("a pause is limited to the maximum of a timer", async () => {
  const timer = vi.spyOn(globalThis, "setTimeout");
  cleanups.push(() => timer.mockRestore());
  const away = new AbortController();
  const failing = step("failing", () => Promise.reject(new TypeError("again")), undefined, {
    retry: { attempts: 2, delay: 2 ** 40 },
  });
  const running = executeWorkflow([failing], { signal: away.signal });
  await expect.poll(() => timer.mock.calls.some(([, ms]) => ms === 2 ** 31 - 1)).toBe(true);
  away.abort();
  expect((await running).status).toBe("compensated");
});
