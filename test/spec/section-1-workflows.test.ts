import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  createEntityStep,
  type Driver,
  deleteEntityStep,
  entity,
  executeWorkflow,
  int,
  keelson,
  noopLogger,
  runWorkflow,
  type StepContext,
  step,
  string,
  updateEntityStep,
  WorkflowBuilder,
  workflow,
} from "../../src/index.ts";
import { request, startApp } from "../support/http.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

// Sections 1 (5), 1.1 (Workflow) and 4.3 (`.workflow`) of the specification: steps with an execute function and an optional
// compensating function, the functions that create and run them, and actions that are workflows.

const ledger: string[] = [];
beforeEach(() => void ledger.splice(0));
const noted = (name: string, fails = false) =>
  step(
    name,
    () => {
      ledger.push(name);
      if (fails) throw new TypeError("boom");
      return `${name} done`;
    },
    (_, result) => void ledger.push(`${name} back: ${result}`),
  );

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const product = entity("product", { name: string, left: int.min(0) }).rules(everybody);
type Input = { readonly productId: string; readonly count: number };
const reserve = updateEntityStep(
  product,
  ({ input }: StepContext<Input>) => ({ id: input.productId }),
  async ({ driver, input }: StepContext<Input>) => {
    const found = await driver.findOne("product", { id: input.productId });
    return { left: (found?.left as number) - input.count };
  },
);
const place = createEntityStep("order", ({ input }: StepContext<Input>) => ({ count: input.count }));
const order = entity("order", { count: int.min(1) })
  .rules(everybody)
  .actions({
    place: action()
      .input({ productId: string, count: int })
      .workflow([reserve, place, noted("ship")]),
    lose: action()
      .input({ productId: string, count: int })
      .workflow([reserve, place, noted("lost", true)]),
  });

describe("in memory", () => {
  it("1 (5): steps run in order; when one fails, those that succeeded are compensated", async () => {
    expect((await executeWorkflow([noted("a"), noted("b")], {})).success).toBe(true);
    const result = await executeWorkflow([noted("a"), step("no way back", () => 1), noted("b", true)], {});
    expect([result.success, result.failedStep, result.compensatedSteps]).toEqual([false, "b", ["a"]]);
    expect(ledger).toEqual(["a", "b", "a", "b", "a back: a done"]);
  });

  it("1.1: workflow(steps), workflow(name) and WorkflowBuilder create workflows to run", async () => {
    const steps = [noted("a"), noted("b")];
    const shapes = [workflow(steps), workflow("named").addStep(noted("a")).addStep(noted("b"))];
    for (const shape of shapes) {
      expect((await executeWorkflow(shape, {})).results).toEqual({ a: "a done", b: "b done" });
      expect((await runWorkflow(shape, {})).results).toEqual({ a: "a done", b: "b done" });
    }
    expect(shapes[1]).toBeInstanceOf(WorkflowBuilder);
  });
});

describe.each(SQL_DATABASES)("on %s", (_name, openDatabase) => {
  let database: SqlDatabase;
  let url: string;
  let resolve: <T = unknown>(service: string) => T;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = await openDatabase();
    const makeApp = (driver: Driver) => keelson({ entities: [product, order], driver, logger: noopLogger });
    const api = makeApp(database.driver);
    ({ resolve } = api);
    ({ url, close } = await startApp(api));
  });
  afterAll(async () => {
    await close();
    await database.drop();
  });
  const make = async (): Promise<string> =>
    (await request(url, "POST", "/api/products", { body: { name: "tea", left: 5 } })).json.id;
  const left = async (id: string) => (await request(url, "GET", `/api/products/${id}`)).json.left;
  const orders = async () => (await request(url, "GET", "/api/orders")).json.length;

  it("4.3: .workflow([...steps]) attaches steps; the last result is the response", async () => {
    const productId = await make();
    const before = await orders();
    const answer = await request(url, "POST", "/api/orders/place", { body: { productId, count: 2 } });
    expect([answer.status, answer.json]).toEqual([200, "ship done"]);
    expect([await left(productId), await orders()]).toEqual([3, before + 1]);
  });

  it("4.3: when a step of it fails, those before it are compensated, in reverse order", async () => {
    const productId = await make();
    const before = await orders();
    const answer = await request(url, "POST", "/api/orders/lose", { body: { productId, count: 2 } });
    expect([answer.status, answer.json.code, answer.json.failedStep, answer.json.compensatedSteps]).toEqual([
      500,
      "WORKFLOW_FAILED",
      "lost",
      ["create-order", "update-product"],
    ]);
    expect([await left(productId), await orders()]).toEqual([5, before]);
  });

  it("1.1: create-, update- and deleteEntityStep change records, and compensate", async () => {
    const id = await make();
    const steps = (fails: boolean) => [
      createEntityStep("product", { name: "new", left: 1 }),
      updateEntityStep("product", { id }, { left: 9 }),
      deleteEntityStep("product", { id }),
      noted("end", fails),
    ];
    const count = async () => (await request(url, "GET", "/api/products?name=new")).json.length;
    // The app keeps a journal, so it runs named workflows; in the process any list of steps works.
    const driver = database.driver;
    const failed = await executeWorkflow(steps(true), { driver, resolve });
    expect(failed.compensatedSteps).toEqual(["delete-product", "update-product", "create-product"]);
    expect([await left(id), await count()]).toEqual([5, 0]);
    expect((await executeWorkflow(steps(false), { driver, resolve })).success).toBe(true);
    expect([await left(id), await count()]).toEqual([undefined, 1]);
  });
});
