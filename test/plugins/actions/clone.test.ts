import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  bool,
  cloneAction,
  datetime,
  defineRule,
  entity,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  softDeleteAction,
  string,
} from "../../../src/index.ts";

const everyone = ["everyone"] as const;
const secret = entity("secret", { name: string }).rules({ read: ["admin"] });
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const note = entity("note", {
  title: string,
  rank: int.optional().writable("admin"),
  wages: int.optional().readable("admin"),
  draft: belongsTo(() => secret).optional(),
})
  .rules(open)
  .actions({ clone: cloneAction() });
const page = entity("page", { title: string, draft: belongsTo(() => secret) })
  .rules(open)
  .actions({ clone: cloneAction() });
const account = entity("account", {
  name: string,
  password: string.password({ cost: 1 }),
  token: string.omit(),
  deletedAt: datetime.optional(),
})
  .softDelete()
  .rules(open)
  .actions({ clone: cloneAction(), remove: softDeleteAction });

/** Lists use the condition; a new record uses the function. */
const isOpen = defineRule("isOpen", ({ record }) => record?.open === true, { where: () => false });
const door = entity("door", { open: bool })
  .rules({ read: everyone, create: [isOpen] })
  .actions({ clone: cloneAction() });

const driver = memoryDriver();
const api = keelson({ entities: [secret, note, page, account, door], driver, logger: noopLogger });
const ann = api.as({ id: "ann" });
const system = api.asSystem();
beforeAll(async () => {
  await api.ready;
  await system.secret.create({ id: "s", name: "Secret" });
  await system.note.create({ id: "n", title: "Note", rank: 3, wages: 9, draftId: "s" });
  await system.page.create({ id: "p", title: "Page", draftId: "s" });
  await system.account.create({ id: "a", name: "Ann", password: "a password", token: "t" });
});
afterAll(() => api.close());

describe("a clone", () => {
  it("is a create: the rules decide on the new record", async () => {
    for (const [id, open] of [
      ["opened", true],
      ["closed", false],
    ] as const)
      await system.door.create({ id, open });
    expect(await ann.door.clone("opened")).toMatchObject({ open: true });
    await expect(ann.door.clone("closed")).rejects.toMatchObject({ status: 403 });
    await expect(ann.door.clone("missing")).rejects.toMatchObject({ status: 404 });
  });

  it("leaves out optional references to records that the caller may not read", async () => {
    const { id } = (await ann.note.clone("n")) as unknown as { id: string };
    expect(await driver.findOne("note", { id })).toMatchObject({
      title: "Note",
      draftId: null,
      wages: null,
      rank: null,
    });
  });

  it("is refused if a required reference is unreadable and not replaced", async () => {
    await expect(ann.page.clone("p")).rejects.toMatchObject({ status: 400, errors: { draftId: "does not exist" } });
    expect(await api.as({ id: "root", role: "admin" }).page.clone("p", { title: "New" })).toMatchObject({
      title: "New",
      draftId: "s",
    });
  });

  it("names the values that are not copied and must be sent", async () => {
    const message = "is required and not copied; send it in the body";
    await expect(ann.account.clone("a")).rejects.toMatchObject({
      status: 400,
      errors: { password: message, token: message },
    });
    const sent = { password: "another one", token: "new" };
    expect(await ann.account.clone("a", sent)).toMatchObject({ name: "Ann" });
  });

  it("accepts values by the rules of create", async () => {
    await expect(ann.note.clone("n", { nonsense: 1 })).rejects.toMatchObject({ status: 400 });
    await expect(ann.note.clone("n", { draftId: "s" })).rejects.toMatchObject({
      errors: { draftId: "does not exist" },
    });
    const body = JSON.stringify({ title: "New", rank: 1 });
    const headers = { "content-type": "application/json" };
    const request = new Request("http://localhost/api/notes/n/clone", { method: "POST", headers, body });
    const response = await api.fetch(request);
    expect([response.status, response.headers.get("x-ignored-fields")]).toEqual([201, "rank"]);
    expect(await response.json()).toMatchObject({ title: "New", rank: null });
  });
});

describe("a softly deleted record", () => {
  it("is permanently deleted by the system only", async () => {
    await system.account.create({ id: "gone", name: "Gone", password: "a password", token: "t" });
    await ann.account.remove("gone");
    await expect(system.account.delete("gone")).rejects.toMatchObject({ status: 404 });
    const options = { deleted: "only" } as object;
    await expect(ann.account.delete("gone", options)).rejects.toMatchObject({ status: 403 });
    await expect(system.account.delete("a", { deleted: "only" })).rejects.toMatchObject({ status: 404 });
    await system.account.delete("gone", { deleted: "only" });
    expect(await driver.findOne("account", { id: "gone" })).toBeNull();
  });
});
