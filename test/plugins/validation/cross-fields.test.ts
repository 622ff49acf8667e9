import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, entity, int, json, string } from "../../../src/entity/index.ts";
import { createPlugin } from "../../../src/gate/index.ts";
import { type User, ValidationFailedError } from "../../../src/kernel/index.ts";
import { defineRule, rules } from "../../../src/plugins/rules/index.ts";
import { validation } from "../../../src/plugins/validation/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { beforeStatements } from "../../support/before-statements.ts";
import { recordStatements } from "../../support/record-statements.ts";

const account = entity("account", { name: string }).build();
const span = () =>
  entity("span", { from: int, to: int, note: string.optional(), author: belongsTo(() => account).optional() }).ownedBy(
    "author",
  );
const seed = {
  account: [
    { id: "ann", name: "Ann" },
    { id: "bob", name: "Bob" },
  ],
  span: [{ id: "s1", from: 1, to: 5, note: "hidden", authorId: "ann" }],
};
const ann: User = { id: "ann" };
const bob: User = { id: "bob" };
const looks = defineRule("cross: looks", ({ record, user }) => user !== null && record?.authorId === user.id);

async function boot(
  builder: ReturnType<typeof span>,
  names: readonly (string | { name: string })[] = ["everyone"],
  hidden: string[] = [],
) {
  const driver = recordStatements(memoryDriver(seed));
  const definition = builder.rules({ create: names, read: names, update: names }).build();
  const kernel = createFakeKernel().withEntities(account, definition).withDriver(driver);
  await kernel.use(validation());
  await kernel.use(rules());
  const without = (list: ReadonlySet<string>) => new Set([...list].filter((name) => !hidden.includes(name)));
  const hide = createPlugin({
    id: "hide",
    setup: ({ hooks }) =>
      hooks.on("access:mask", (draft) => {
        draft.mask = { ...draft.mask, readable: without(draft.mask.readable), writable: without(draft.mask.writable) };
      }),
  });
  await kernel.use(hide);
  const write = async (data: Record<string, unknown>, id?: string, caller: User | null = ann): Promise<unknown> => {
    driver.statements.length = 0;
    try {
      await kernel.as(caller).operation({ kind: id === undefined ? "create" : "update", entity: "span", id, data });
      return "ok";
    } catch (error) {
      return error instanceof ValidationFailedError ? error.errors : (error as { status: number }).status;
    }
  };
  return { write, kernel, statements: driver.statements };
}

const ordered = () =>
  span().validate(({ from = 0, to = 0 }) => from <= to, "must not end before it begins", { fields: ["to"] });

describe("cross-field validators", () => {
  it("see the whole record of a create, defaults included", async () => {
    const seen: unknown[] = [];
    const { write } = await boot(
      span().validate((data, context) => seen.push({ ...data }, context) > 0, "must be seen"),
    );
    expect(await write({ from: 1, to: 2 })).toBe("ok");
    expect(seen).toEqual([
      { from: 1, to: 2, note: null, authorId: "ann" },
      { operation: "create", user: ann },
    ]);
  });

  it("see the stored record of an update with the changes in it", async () => {
    const { write } = await boot(ordered());
    expect(await write({ to: 3 }, "s1")).toBe("ok");
    expect(await write({ from: 4 }, "s1")).toEqual({ to: "must not end before it begins" });
    expect(await write({ from: 4, to: 6 }, "s1")).toBe("ok");
  });

  it("see omitted fields of the stored record, and no stored password", async () => {
    const seen: unknown[] = [];
    const login = entity("login", { name: string, token: string.omit(), secret: string.password() })
      .validate(((data: Record<string, unknown>) => seen.push([data.token, data.secret]) > 0) as never, "is seen")
      .build();
    const kernel = createFakeKernel()
      .withEntities(login)
      .withDriver(memoryDriver({ login: [{ id: "l", name: "n", token: "t", secret: "$hash$" }] }));
    await kernel.use(validation());
    await kernel.operation({ kind: "update", entity: "login", id: "l", data: { name: "m" } });
    expect(seen).toEqual([["t", undefined]]);
  });

  it("hold for two parallel updates: the second one is validated again", async () => {
    const driver = memoryDriver({ span: [{ id: "s1", from: 1, to: 5, note: "n", authorId: null }] });
    let meddle: (() => Promise<unknown>) | undefined;
    let reads = 0;
    const counted = beforeStatements(driver, "find", () => reads++);
    const between = beforeStatements(counted, "update", async () => {
      const once = meddle;
      meddle = undefined;
      await once?.();
    });
    const kernel = createFakeKernel()
      .withEntities(
        account,
        ordered()
          .rules({ update: ["everyone"] })
          .build(),
      )
      .withDriver(between);
    await kernel.use(validation());
    const write = (data: Record<string, unknown>) =>
      kernel.operation({ kind: "update", entity: "span", id: "s1", data });
    meddle = () => driver.update("span", { id: "s1" }, { to: 2 });
    await expect(write({ from: 4 })).rejects.toMatchObject({ errors: { to: "must not end before it begins" } });
    expect(await driver.findOne("span", { id: "s1" })).toMatchObject({ from: 1, to: 2 });

    // A column that no validator read, or that is being overwritten, may change in the meantime.
    reads = 0;
    meddle = () => driver.update("span", { id: "s1" }, { from: 9, note: "changed" });
    expect((await write({ from: 2 })).records[0]).toMatchObject({ from: 2, to: 2, note: "changed" });
    expect(reads).toBe(1);
  });

  it.each([true, false])("hold for JSON too, which no condition can compare (timestamps: %s)", async (timestamps) => {
    let meddle: (() => Promise<unknown>) | undefined;
    const box = entity("box", { name: string, size: int, limits: json })
      .timestamps(timestamps)
      .validate(async ({ size = 0, limits }) => {
        const fits = size <= (limits as { max: number }).max;
        const once = meddle;
        meddle = undefined;
        await once?.();
        return fits;
      }, "must fit")
      .build();
    const now = new Date();
    const times = timestamps ? { createdAt: now, updatedAt: now } : {};
    const driver = recordStatements(
      memoryDriver({ box: [{ id: "b", name: "n", size: 1, limits: { max: 5 }, ...times }] }),
    );
    const kernel = createFakeKernel().withEntities(box).withDriver(driver);
    await kernel.use(validation());
    const write = async (data: Record<string, unknown>) => {
      driver.statements.length = 0;
      const { records } = await kernel.operation({ kind: "update", entity: "box", id: "b", data });
      return records[0];
    };
    meddle = () => driver.update("box", { id: "b" }, { limits: { max: 3 } });
    await expect(write({ size: 4 })).rejects.toMatchObject({ errors: { _: "must fit" } });
    expect(await driver.findOne("box", { id: "b" })).toMatchObject({ size: 1, limits: { max: 3 } });

    // Unread columns may change in the meantime, and so may JSON that is being overwritten.
    meddle = () => driver.update("box", { id: "b" }, { name: "changed" });
    expect(await write({ size: 2 })).toMatchObject({ name: "changed", size: 2 });
    meddle = () => driver.update("box", { id: "b" }, { limits: { max: 1 } });
    expect(await write({ limits: { max: 2 } })).toMatchObject({ size: 2, limits: { max: 2 } });
    expect(driver.statements).toEqual(["find box", "update box", "update box"]);
  });

  it("run only for their operations, and read the record only when one runs", async () => {
    const { write, statements } = await boot(
      span().validate(() => false, "must not be created", { operations: ["create"] }),
    );
    expect(await write({ from: 1, to: 2 })).toEqual({ _: "must not be created" });
    expect(await write({ from: 2 }, "s1")).toBe("ok");
    expect(statements).toEqual(["update span"]);
  });

  it("must return strictly true, synchronously or as a promise", async () => {
    const { write } = await boot(
      span()
        .validate(async ({ from }) => from !== 7, "must not be seven", { fields: ["from"] })
        .validate((({ to }: { to: number }) => to) as never, "must be true", { fields: ["to"] }),
    );
    expect(await write({ from: 7, to: 1 })).toEqual({ from: "must not be seven", to: "must be true" });
  });

  it("that throw count as failed, and are logged without values", async () => {
    const { write, kernel } = await boot(
      span().validate(() => {
        throw new TypeError("value 47114711");
      }, "must not break"),
    );
    expect(await write({ from: 1, to: 2 })).toEqual({ _: "must not break" });
    const line = kernel.log.lines.find((text) => text.startsWith("warn")) ?? "";
    expect(line).toContain('"entity":"span"');
    expect(line).not.toContain("47114711");
  });

  it("cannot change what is stored", async () => {
    const { kernel, write } = await boot(
      span().validate((data) => {
        (data as { to: number }).to = 99;
        return true;
      }, "fine"),
    );
    await write({ from: 1, to: 2 });
    const { records } = await kernel.operation({ kind: "list", entity: "span", query: { where: { to: 99 } } });
    expect(records).toEqual([]);
  });

  it("do not run while values or references are invalid", async () => {
    const { write } = await boot(span().validate(() => false, "never right"));
    expect(await write({ from: "1", to: 2 })).toEqual({ from: expect.any(String) });
  });

  it("do not name a field that the caller cannot see", async () => {
    const secretive = () => span().validate(({ note }) => note === undefined, "is refused", { fields: ["note", "to"] });
    expect(await (await boot(secretive())).write({ from: 1, to: 2 })).toEqual({ note: "is refused" });
    expect(await (await boot(secretive(), ["everyone"], ["note"])).write({ from: 1, to: 2 })).toEqual({
      _: "is refused",
    });
  });

  it("reveal nothing about a record that the caller may not change", async () => {
    for (const names of [["owner"], [looks], ["owner", looks]]) {
      const { write } = await boot(ordered(), names);
      for (const from of [2, 100]) {
        expect(await write({ from }, "s1", bob)).toBe(403);
        expect(await write({ from }, "missing", bob)).toBe(404);
      }
      expect(await write({ from: 100 }, "s1", ann)).toEqual({ to: "must not end before it begins" });
      expect(await write({ from: 2 }, "s1", ann)).toBe("ok");
    }
  });

  it("see no stored password", async () => {
    const seen: unknown[] = [];
    const login = entity("login", { name: string, secret: string.password() })
      .rules({ update: ["everyone"] })
      .validate((data) => seen.push({ ...data }) > 0, "must be seen")
      .build();
    const kernel = createFakeKernel()
      .withEntities(login)
      .withDriver(memoryDriver({ login: [{ id: "l1", name: "x", secret: "hash" }] }));
    await kernel.use(validation());
    await kernel.operation({ kind: "update", entity: "login", id: "l1", data: { name: "y" } });
    expect(JSON.stringify(seen)).not.toContain("hash");
  });
});
