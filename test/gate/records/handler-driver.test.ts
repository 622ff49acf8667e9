import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { action, createEnhancedDriver, type Driver, embedded, entity, noopLogger, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";

// Specification 4.3: `ctx.driver.update(entity, where, data)` accepts any conditions that identify one record.

let work: (driver: Driver) => Promise<unknown> = async () => undefined;
const page = entity("page", { slug: string, title: string })
  .rules({ read: ["everyone"] })
  .actions({
    run: action()
      .rules("everyone")
      .handler(({ driver }) => work(driver)),
  });
const file = await freshSqliteFile();
const app = createTestApp({ entities: [page], driver: embedded({ file: file.file }), logger: noopLogger });
const { api } = app;
beforeAll(() => api.ready);
afterAll(async () => {
  await app.close();
  await file.remove();
});
beforeEach(async () => {
  for (const { id } of (await api.asSystem().page.list()).data) await api.asSystem().page.delete(id);
  for (const [slug, title] of [
    ["home", "Home"],
    ["about", "Twice"],
    ["terms", "Twice"],
  ] as const)
    await api.asSystem().page.create({ id: slug, slug, title });
});
const titles = async () => (await api.asSystem().page.list({ sort: ["id"] })).data.map(({ title }) => title);

const inHandler = async (use: (driver: Driver) => Promise<unknown>): Promise<unknown> => {
  let thrown: unknown;
  work = async (driver) => {
    const result = await use(driver).catch((error: unknown) => {
      thrown = error;
    });
    return { result: result ?? null };
  };
  const { body } = await app.as(null).request("POST", "/api/pages/run");
  if (thrown !== undefined) throw thrown;
  return (body as { result: unknown }).result;
};

describe.each([
  ["a handler", inHandler],
  ["a transaction of a handler", (use: (driver: Driver) => Promise<unknown>) => inHandler((on) => on.transaction(use))],
  [
    "createEnhancedDriver",
    async (use: (driver: Driver) => Promise<unknown>) => (await use(createEnhancedDriver(api.driver, [page]))) ?? null,
  ],
])("the driver of %s", (_, run) => {
  it("changes and deletes the one record that any conditions match", async () => {
    expect(await run((driver) => driver.update("page", { slug: "home" }, { title: "New" }))).toMatchObject({
      id: "home",
      title: "New",
    });
    expect(await run((driver) => driver.update(page, { AND: [{ id: "home" }, { title: "New" }] }, { title: "Newer" })));
    expect(await titles()).toEqual(["Twice", "Newer", "Twice"]);
    expect(await run((driver) => driver.delete("page", { title: "Newer" }))).toBe(true);
    expect(await titles()).toEqual(["Twice", "Twice"]);
  });

  it("changes nothing if no record matches them", async () => {
    expect(await run((driver) => driver.update("page", { slug: "gone" }, { title: "New" }))).toBeNull();
    expect(await run((driver) => driver.delete("page", { slug: "gone" }))).toBe(false);
    expect(await titles()).toEqual(["Twice", "Home", "Twice"]);
  });

  it("refuses conditions that several records match, and empty ones", async () => {
    await expect(run((driver) => driver.update("page", { title: "Twice" }, { title: "x" }))).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("updateMany"),
    });
    await expect(run((driver) => driver.delete("page", { title: "Twice" }))).rejects.toMatchObject({ status: 409 });
    await expect(run((driver) => driver.delete("page", {}))).rejects.toMatchObject({ code: "CONFIGURATION_ERROR" });
    expect(await titles()).toEqual(["Twice", "Home", "Twice"]);
  });
});
