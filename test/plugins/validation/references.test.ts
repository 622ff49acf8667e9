import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, entity, selfRef, string } from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { createApp, createPlugin } from "../../../src/gate/index.ts";
import { DatabaseUnavailableError, type User } from "../../../src/kernel/index.ts";
import { defineRule, rules } from "../../../src/plugins/rules/index.ts";
import { validation } from "../../../src/plugins/validation/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { beforeStatements } from "../../support/before-statements.ts";
import { recordStatements } from "../../support/record-statements.ts";

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const account = entity("account", { name: string })
  .rules({ read: ["authenticated"] })
  .build();
const album = entity("album", { name: string, holder: belongsTo(() => account).optional() })
  .ownedBy("holder")
  .rules({ read: ["owner"] })
  .build();
const photo = entity("photo", {
  title: string,
  album: belongsTo(() => album).optional(),
  author: belongsTo(() => account).optional(),
  editor: belongsTo(() => account).optional(),
  parent: selfRef().optional(),
})
  .ownedBy("author")
  .rules(everybody)
  .build();

const seed = {
  account: ["ann", "bob", "root"].map((id) => ({ id, name: id })),
  album: [
    { id: "of-ann", name: "Ann's", holderId: "ann" },
    { id: "of-bob", name: "Bob's", holderId: "bob" },
  ],
  photo: [{ id: "p1", title: "first", authorId: "ann" }],
};
const ann: User = { id: "ann" };

async function boot(driver: Driver = memoryDriver(seed)) {
  const recorded = recordStatements(driver);
  const kernel = createFakeKernel().withEntities(account, album, photo).withDriver(recorded);
  await kernel.use(validation());
  await kernel.use(rules());
  const write = async (data: Record<string, unknown>, caller: User | null = ann, id?: string) => {
    recorded.statements.length = 0;
    const kind = id === undefined ? "create" : "update";
    try {
      await kernel.as(caller).operation({ kind, entity: "photo", id, data });
      return "ok";
    } catch (error) {
      return (error as { errors?: unknown; status: number }).errors ?? (error as { status: number }).status;
    }
  };
  return { write, statements: recorded.statements, kernel };
}

describe("a reference", () => {
  it("must lead to an existing record", async () => {
    const { write } = await boot();
    expect(await write({ title: "x", parentId: "p1" })).toBe("ok");
    expect(await write({ title: "x", parentId: "missing" })).toEqual({ parentId: "does not exist" });
    expect(await write({ parentId: "missing" }, ann, "p1")).toEqual({ parentId: "does not exist" });
  });

  it("to a hidden record gets the same response as one to a missing record", async () => {
    const { write } = await boot();
    expect(await write({ title: "x", albumId: "of-ann" })).toBe("ok");
    const hidden = await write({ title: "x", albumId: "of-bob" });
    const missing = await write({ title: "x", albumId: "missing" });
    expect(hidden).toEqual({ albumId: "does not exist" });
    expect(missing).toEqual(hidden);
    // An anonymous caller may not list albums at all, and learns no more.
    expect(await write({ title: "x", albumId: "of-ann" }, null)).toEqual(hidden);
  });

  it("that is null or absent costs no statement", async () => {
    const { write, statements } = await boot();
    expect(await write({ title: "x", albumId: null })).toBe("ok");
    expect(statements).toEqual(["insert photo"]);
  });

  it("to the caller as owner costs no statement", async () => {
    const { write, statements } = await boot();
    expect(await write({ title: "x" })).toBe("ok");
    expect(await write({ title: "x", authorId: "ann" })).toBe("ok");
    expect(statements).toEqual(["insert photo"]);
  });

  it("to the caller in another column is looked up", async () => {
    const { write, statements } = await boot();
    expect(await write({ title: "x", editorId: "ann" })).toBe("ok");
    expect(statements).toEqual(["find account", "insert photo"]);
  });

  it("to another owner is looked up, for administrators too", async () => {
    const { write } = await boot();
    const root: User = { id: "root", role: "admin" };
    expect(await write({ title: "x", authorId: "bob" }, root)).toBe("ok");
    expect(await write({ title: "x", authorId: "missing" }, root)).toEqual({ authorId: "does not exist" });
  });

  it("is reported with all others that do not exist", async () => {
    const { write } = await boot();
    expect(await write({ title: "x", albumId: "of-bob", parentId: "missing", editorId: "bob" })).toEqual({
      albumId: "does not exist",
      parentId: "does not exist",
    });
  });

  it("is not looked up while values are wrong", async () => {
    const { write, statements } = await boot();
    expect(await write({ title: 7, albumId: "of-ann" })).toEqual({ title: "must be a string" });
    expect(statements).toEqual([]);
  });

  it("that cannot be looked up fails with the original error", async () => {
    const driver = beforeStatements(memoryDriver(seed), "find", () => Promise.reject(new DatabaseUnavailableError()));
    expect(await (await boot(driver)).write({ title: "x", albumId: "of-ann" })).toBe(503);
  });

  it("from the system is left to the database", async () => {
    const driver = recordStatements(memoryDriver(seed));
    const kernel = createApp({ entities: [account, album, photo], driver, plugins: [rules(), validation()] });
    const photos = kernel.asSystem().photo;
    await expect(photos?.create({ title: "x", albumId: "of-bob" } as never)).resolves.toBeDefined();
    expect(driver.statements).toEqual(["insert photo"]);
    await expect(photos?.create({ title: "x", albumId: "missing" } as never)).rejects.toMatchObject({ status: 400 });
    await kernel.close();
  });

  it("to a remote record is not looked up", async () => {
    const customer = entity("customer", { name: string }).build();
    const order = entity("order", { title: string, customer: belongsTo(() => customer).remote("crm") }).build();
    const driver = recordStatements(memoryDriver());
    const kernel = createFakeKernel().withEntities(order).withDriver(driver);
    await kernel.use(createPlugin({ id: "remote", provides: ["remote-relations"] }));
    await kernel.use(validation());
    const data = { title: "x", customerId: "anybody" };
    await expect(kernel.operation({ kind: "create", entity: "order", data })).resolves.toBeDefined();
    expect(driver.statements).toEqual(["insert order"]);
  });
});

describe("a reference that an update sends back", () => {
  const secret = entity("secret", { text: string, holder: belongsTo(() => account).optional() })
    .ownedBy("holder")
    .rules({ read: ["owner"] })
    .build();
  const looks = defineRule("references: looks", ({ record }) => record?.title !== "closed");
  const note = entity("note", {
    title: string,
    secret: belongsTo(() => secret).optional(),
    other: belongsTo(() => secret).optional(),
  });
  const planted = {
    secret: ["s1", "s2", "s3"].map((id) => ({ id, text: "x" })),
    note: [{ id: "n1", title: "first", secretId: "s1", otherId: "s2" }],
  };
  const missing = { secretId: "does not exist" };

  /** Notes whose secrets no caller may read. */
  async function bootNotes(
    rulesOfNote: Parameters<typeof note.rules>[0] = everybody,
    driver: Driver = memoryDriver(planted),
    hidden?: string,
  ) {
    const recorded = recordStatements(driver);
    const kernel = createFakeKernel()
      .withEntities(account, secret, note.rules(rulesOfNote).build())
      .withDriver(recorded)
      .as(ann);
    await kernel.use(validation());
    await kernel.use(rules());
    const filterable = (names: ReadonlySet<string>) => new Set([...names].filter((name) => name !== hidden));
    const hide = createPlugin({
      id: "hide",
      hooks: {
        "access:mask": (draft) => {
          draft.mask = { ...draft.mask, filterable: filterable(draft.mask.filterable) };
        },
      },
    });
    await kernel.use(hide);
    const write = async (data: Record<string, unknown>) => {
      recorded.statements.length = 0;
      try {
        return (await kernel.operation({ kind: "update", entity: "note", id: "n1", data })).records[0];
      } catch (error) {
        return (error as { errors?: unknown }).errors ?? (error as { status: number }).status;
      }
    };
    return { write, statements: recorded.statements };
  }

  it("may stay the same, although the caller cannot read the record", async () => {
    const { write, statements } = await bootNotes();
    expect(await write({ title: "second", secretId: "s1" })).toMatchObject({ title: "second", secretId: "s1" });
    expect(statements).toEqual(["find secret", "find note", "update note"]);
    expect(await write({ secretId: "s1", otherId: "s2" })).toMatchObject({ title: "second", otherId: "s2" });
  });

  it("may stay the same under a rule that reads the record", async () => {
    const { write } = await bootNotes({ ...everybody, read: [looks], update: [looks] });
    expect(await write({ title: "second", secretId: "s1" })).toMatchObject({ title: "second", secretId: "s1" });
    expect(await write({ secretId: "s2" })).toEqual(missing);
  });

  it("that differs is refused like one to a missing record, and changes nothing", async () => {
    const { write } = await bootNotes();
    for (const secretId of ["s2", "s3", "missing"]) expect(await write({ title: "x", secretId })).toEqual(missing);
    expect(await write({ secretId: "s1", otherId: "s1" })).toEqual({ otherId: "does not exist" });
    expect(await write({})).toMatchObject({ title: "first", secretId: "s1", otherId: "s2" });
  });

  it("that has changed by the time of the statement is refused with the same message", async () => {
    const driver = memoryDriver(planted);
    let meddle: (() => Promise<unknown>) | undefined = () => driver.update("note", { id: "n1" }, { secretId: "s3" });
    const meddling = beforeStatements(driver, "update", async () => {
      const once = meddle;
      meddle = undefined;
      await once?.();
    });
    const { write } = await bootNotes(everybody, meddling);
    expect(await write({ title: "x", secretId: "s1" })).toEqual(missing);
    expect(await driver.findOne("note", { id: "n1" })).toMatchObject({ title: "first", secretId: "s3" });
  });

  it("reveals stored values only to callers who may read them", async () => {
    const unread = await bootNotes({ ...everybody, read: ["admin"] });
    expect(await unread.write({ secretId: "s1" })).toEqual(missing);
    const unfiltered = await bootNotes(everybody, memoryDriver(planted), "secretId");
    expect(await unfiltered.write({ secretId: "s1" })).toEqual(missing);
  });

  it("does not hide that the caller may not change the record", async () => {
    const { write } = await bootNotes({ ...everybody, update: ["admin"] });
    expect(await write({ secretId: "s1" })).toBe(403);
    const mine = defineRule("references: mine", () => ({ title: "mine" }));
    const narrowed = await bootNotes({ ...everybody, update: [mine] });
    expect(await narrowed.write({ secretId: "s1" })).toBe(403);
  });
});

describe("the system", () => {
  it("may set ids, datetimes and read-only fields on create, if they are valid", async () => {
    const thing = entity("thing", { name: string, stamp: string.readonly().optional() }).build();
    const kernel = createApp({ entities: [thing], driver: memoryDriver(), plugins: [validation()] });
    const things = kernel.asSystem().thing;
    const createdAt = new Date("2020-01-01T00:00:00Z");
    await expect(things?.create({ id: "mine", name: "x", stamp: "s", createdAt } as never)).resolves.toMatchObject({
      id: "mine",
      stamp: "s",
      createdAt,
    });
    await expect(
      things?.update("mine", { id: "mine", stamp: "t", createdAt: new Date() } as never),
    ).resolves.toMatchObject({
      stamp: "t",
      createdAt,
    });
    for (const wrong of [{ id: "" }, { id: null }, { id: 7 }, { createdAt: "yesterday" }, { nonsense: 1 }])
      await expect(things?.create({ name: "x", ...wrong } as never)).rejects.toMatchObject({ status: 400 });
    await kernel.close();
  });
});
