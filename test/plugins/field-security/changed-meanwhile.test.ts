import { belongsTo, bool, cloneAction, defineRule, entity, exportAction, hasMany, memoryDriver, string } from "keelson";
import { withMiddleware } from "keelson/plugin";
import { createTestApp } from "keelson/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

// A rule's database reads run after the record was read. In between, the record is made public; it was never public with the
// value that was read.

const inOpenBox = defineRule("cmInOpenBox", () => ({ box: { open: true } }));
const seesOpen = defineRule("cmSeesOpen", ({ record }) => (record?.free === true ? true : { box: { open: true } }));

const isFree = defineRule("cmIsFree", () => ({ free: true }));

const box = entity("box", { open: bool, notes: hasMany(() => note) }).rules({ read: ["everyone"] });
const note = entity("note", {
  title: string,
  free: bool.default(false),
  secret: string.optional().readable(inOpenBox),
  code: string.optional().readable(seesOpen),
  plain: string.optional().readable(isFree),
  box: belongsTo(() => box),
})
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] })
  .actions({ clone: cloneAction, export: exportAction });
const paper = entity("paper", { title: string, secret: string, box: belongsTo(() => box) }).rules({
  read: [inOpenBox],
  update: ["everyone"],
});

describe("a record that is made public while it is read", () => {
  const entities = [box, note, paper];
  let app: ReturnType<typeof createTestApp<typeof entities>>;
  /** Runs before the second read of an entity's records. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  let reads = 0;
  beforeEach(async () => {
    const base = memoryDriver();
    const driver = withMiddleware(base, async (statement, next) => {
      const isRead = statement.kind === "find" && ["note", "paper"].includes(statement.entity.name);
      if (isRead && meanwhile !== undefined && ++reads === 2) await meanwhile();
      return next(statement);
    });
    app = createTestApp({ entities, driver });
    await app.api.ready;
    const system = app.api.asSystem();
    await system.box.create({ id: "shut", open: false });
    await system.box.create({ id: "open", open: true });
    const hidden = { title: "t", secret: "HIDDEN", boxId: "shut" };
    await system.note.create({ id: "n", ...hidden, code: "HIDDEN", plain: "HIDDEN" });
    await system.paper.create({ id: "p", ...hidden });
    reads = 0;
    meanwhile = async () => {
      meanwhile = undefined;
      const open = { secret: "public", boxId: "open" };
      await base.update("note", { id: "n" }, { ...open, code: "public", plain: "public", free: true });
      await base.update("paper", { id: "p" }, open);
    };
  });
  afterEach(() => {
    meanwhile = undefined;
    return app.close();
  });

  it.each([
    "/notes/n",
    "/notes",
    "/notes/n?select=secret",
    "/notes?select=plain",
    "/notes?select=code",
    "/notes/export",
  ])("does not show a value that was hidden when it was stored: %s", async (path) => {
    const { body } = await app.as(null).request("GET", `/api${path}`);
    expect(JSON.stringify(body)).not.toContain("HIDDEN");
  });

  it("is not copied with such a value", async () => {
    await app.as(null).request("POST", "/api/notes/n/clone", { title: "mine", boxId: "open" });
    const copies = await app.api.driver.findMany("note", { where: { title: "mine" } });
    expect(JSON.stringify(copies)).not.toContain("HIDDEN");
  });

  it("is shown in its current state in the response to a write", async () => {
    reads = 1;
    const { status, body } = await app.as(null).request("PATCH", "/api/papers/p", { title: "new" });
    expect([status, body]).toMatchObject([200, { id: "p", secret: "public" }]);
  });
});

describe("a record that leaves the rule while it is decided", () => {
  const isActive = { author: { active: true } };
  const whileShut = defineRule("cmWhileShut", ({ record }) => record?.open === false && isActive);
  const author = entity("author", { active: bool, drafts: hasMany(() => draft) }).rules({ read: ["everyone"] });
  const draft = entity("draft", { open: bool, author: belongsTo(() => author) })
    .rules({ update: [whileShut] })
    .validate(({ open }) => open !== true, "is open");

  it("is not revealed by its validators' messages", async () => {
    const base = memoryDriver();
    let reads = 0;
    const driver = withMiddleware(base, async (statement, next) => {
      if (statement.kind === "find" && statement.entity.name === "draft" && ++reads === 2)
        await base.update("draft", { id: "d" }, { open: true });
      return next(statement);
    });
    const app = createTestApp({ entities: [author, draft], driver });
    const system = app.api.asSystem();
    await system.author.create({ id: "a", active: true });
    await system.draft.create({ id: "d", open: false, authorId: "a" });
    reads = 0;
    const { status } = await app.as({ id: "u" }).request("PATCH", "/api/drafts/d", {});
    expect(status).toBe(403);
    await app.close();
  });
});
