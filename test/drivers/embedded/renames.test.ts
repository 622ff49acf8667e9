import { afterEach, describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  ConfigurationError,
  datetime,
  type EntityLike,
  entity,
  hasMany,
  int,
  manyToMany,
  string,
} from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { driverContext } from "../../support/connect-driver.ts";
import { openPostgresPlace, openSqlitePlace } from "../../support/migration-databases.ts";

describe.each(["embedded", "postgres"] as const)("a renamed definition on %s", (name) => {
  const open: Driver[] = [];
  const drops: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const driver of open.splice(0)) await driver.disconnect();
    for (const drop of drops.splice(0)) await drop();
  });

  /** A database with direct queries, and a function that starts an app with other entities on it. */
  async function place() {
    const { target, rows, drop } = await (name === "embedded" ? openSqlitePlace() : openPostgresPlace());
    drops.push(drop);
    const { url } = target;
    async function start(entities: readonly unknown[]): Promise<Driver> {
      for (const driver of open.splice(0)) await driver.disconnect();
      const driver = name === "embedded" ? embedded({ file: url.slice("file:".length) }) : postgres(url);
      await driver.connect(driverContext(entities as readonly EntityLike[]));
      open.push(driver);
      return driver;
    }
    return { start, rows };
  }

  async function database() {
    return (await place()).start;
  }

  /** Pushes the differences, and checks that none remain. */
  async function push(driver: Driver): Promise<void> {
    expect(await driver.schema?.push()).toEqual({ changed: true });
    expect(await driver.schema?.pending()).toEqual([]);
    expect(await driver.schema?.push()).toEqual({ changed: false });
  }

  it("keeps the values, the uniqueness and the blind index of a field", async () => {
    const start = await database();
    const before = await start([
      entity("note", {
        title: string.unique(),
        body: string.optional(),
        secret: string.encrypted({ searchable: true }).optional(),
        gone: datetime.optional(),
      })
        .index(["title", "body"])
        .unique(["body", "gone"])
        .softDelete("gone")
        .timestamps(false),
    ]);
    await push(before);
    await before.create("note", { id: "n1", title: "one", body: "b", secret: "s", secretBidx: "x", gone: null });
    const note = entity("note", {
      heading: string.unique().renamedFrom("title"),
      body: string.optional(),
      hidden: string.encrypted({ searchable: true }).optional().renamedFrom("secret"),
      removed: datetime.optional().renamedFrom("gone"),
      words: int.default(3),
    })
      .index(["heading", "body"])
      .unique(["body", "removed"])
      .softDelete("removed")
      .timestamps(false);
    const after = await start([note]);
    expect(await after.schema?.pending()).toEqual(
      [
        ["title", "heading"],
        ["secret", "hidden"],
        ["secretBidx", "hiddenBidx"],
        ["gone", "removed"],
      ].map(([from, to]) => `table "note": column "${from}" is to be renamed to "${to}"`),
    );
    await push(after);
    expect(await after.findMany("note")).toEqual([
      { id: "n1", heading: "one", body: "b", hidden: "s", hiddenBidx: "x", removed: null, words: 3 },
    ]);
    const twin = { id: "n2", heading: "one", body: null, hidden: null, hiddenBidx: null, removed: null, words: 1 };
    await expect(after.create("note", twin)).rejects.toMatchObject({ status: 409 });
  });

  it("keeps the rows of an entity, the keys that refer to them, and its pairs", async () => {
    const start = await database();
    const article = entity("article", {
      title: string,
      labels: manyToMany(() => label),
      remarks: hasMany(() => remark),
    }).timestamps(false);
    const label = entity("label", { name: string }).timestamps(false);
    const remark = entity("remark", { article: belongsTo(() => article).onDelete("cascade") }).timestamps(false);
    const before = await start([article, label, remark]);
    await push(before);
    await before.create("article", { id: "a1", title: "one" });
    await before.createMany("label", [
      { id: "l1", name: "red" },
      { id: "l2", name: "blue" },
    ]);
    await before.link("article", "labels", "a1", ["l1", "l2"]);
    await before.create("remark", { id: "r1", articleId: "a1" });
    // Sorts after "label", so that the columns of the pairs swap places.
    const story = entity("story", {
      title: string,
      labels: manyToMany(() => label),
      remarks: hasMany(() => note),
    })
      .renamedFrom("article")
      .timestamps(false);
    const note = entity("note", {
      story: belongsTo(() => story)
        .onDelete("cascade")
        .renamedFrom("article"),
    })
      .renamedFrom("remark")
      .timestamps(false);
    const after = await start([story, label, note]);
    await push(after);
    expect(await after.findMany("story")).toEqual([{ id: "a1", title: "one" }]);
    expect(await after.findMany("note")).toEqual([{ id: "r1", storyId: "a1" }]);
    expect(await after.links("story", "labels", ["a1"])).toEqual([
      { source: "a1", target: "l1" },
      { source: "a1", target: "l2" },
    ]);
    expect(await after.delete("story", { id: "a1" })).toBe(true);
    expect(await after.count("note")).toBe(0);
  });

  it("keeps the pairs of a relation whose table has its name", async () => {
    const start = await database();
    const alone = entity("person", { friends: manyToMany(() => alone) }).timestamps(false);
    const before = await start([alone]);
    await push(before);
    await before.createMany("person", [{ id: "p1" }, { id: "p2" }]);
    await before.link("person", "friends", "p1", ["p2"]);
    const renamed = entity("member", { peers: manyToMany(() => renamed).renamedFrom("friends") })
      .renamedFrom("person")
      .timestamps(false);
    const after = await start([renamed]);
    await push(after);
    expect(await after.links("member", "peers", ["p1"])).toEqual([{ source: "p1", target: "p2" }]);
  });

  it("keeps the pairs of a relation when another between the entities comes or goes", async () => {
    const start = await database();
    const tag = entity("tag", {}).timestamps(false);
    const one = entity("post", { tags: manyToMany(() => tag) }).timestamps(false);
    const before = await start([one, tag]);
    await push(before);
    await before.create("post", { id: "p1" });
    await before.create("tag", { id: "t1" });
    await before.link("post", "tags", "p1", ["t1"]);
    const two = entity("post", { hidden: manyToMany(() => tag), tags: manyToMany(() => tag) }).timestamps(false);
    const between = await start([two, tag]);
    await push(between);
    expect(await between.links("post", "tags", ["p1"])).toEqual([{ source: "p1", target: "t1" }]);
    expect(await between.links("post", "hidden", ["p1"])).toEqual([]);
    const after = await start([one, tag]);
    await push(after);
    expect(await after.links("post", "tags", ["p1"])).toEqual([{ source: "p1", target: "t1" }]);
  });

  it("keeps the pairs of a relation when its inverse is declared or removed", async () => {
    const start = await database();
    const label = entity("label", {}).timestamps(false);
    const post = entity("post", { labels: manyToMany(() => label) }).timestamps(false);
    const before = await start([post, label]);
    await push(before);
    await before.create("post", { id: "p1" });
    await before.create("label", { id: "l1" });
    await before.link("post", "labels", "p1", ["l1"]);
    const labelled = entity("post", { labels: manyToMany(() => used) }).timestamps(false);
    const used = entity("label", { posts: manyToMany(() => labelled) }).timestamps(false);
    const both = await start([labelled, used]);
    expect(await both.schema?.pending()).toEqual(['table "_post_labels" is to be renamed to "_label_posts"']);
    await push(both);
    expect(await both.links("label", "posts", ["l1"])).toEqual([{ source: "l1", target: "p1" }]);
    const told = entity("post", { labels: manyToMany(() => label).renamedFrom("label_posts") }).timestamps(false);
    const after = await start([told, label]);
    await push(after);
    expect(await after.links("post", "labels", ["p1"])).toEqual([{ source: "p1", target: "l1" }]);
  });

  it.each([
    ["zeta", "yields"],
    ["follows", "readers"],
  ])("keeps the direction of %s when %s becomes its inverse, and when only that stays", async (own, other) => {
    const start = await database();
    const alone = entity("person", { [own]: manyToMany(() => alone) }).timestamps(false);
    const before = await start([alone]);
    await push(before);
    await before.createMany("person", [{ id: "p1" }, { id: "p2" }]);
    await before.link("person", own, "p1", ["p2"]);
    const both = entity("person", {
      [own]: manyToMany(() => both).inverse(other),
      [other]: manyToMany(() => both),
    }).timestamps(false);
    const between = await start([both]);
    await between.schema?.push();
    expect(await between.schema?.pending()).toEqual([]);
    expect(await between.links("person", own, ["p1", "p2"])).toEqual([{ source: "p1", target: "p2" }]);
    expect(await between.links("person", other, ["p1", "p2"])).toEqual([{ source: "p2", target: "p1" }]);
    const first = [own, other].sort()[0];
    const rest = entity("person", {
      [other]: manyToMany(() => rest).renamedFrom(first === other ? "unheard" : `person_${first}`),
    }).timestamps(false);
    const after = await start([rest]);
    await after.schema?.push();
    expect(await after.schema?.pending()).toEqual([]);
    expect(await after.links("person", other, ["p1", "p2"])).toEqual([{ source: "p2", target: "p1" }]);
  });

  it("keeps the pairs of a relation when its target's new name sorts elsewhere", async () => {
    const start = await database();
    const tag = entity("tag", {}).timestamps(false);
    const post = entity("post", { tags: manyToMany(() => tag) }).timestamps(false);
    const before = await start([post, tag]);
    await push(before);
    await before.create("post", { id: "p1" });
    await before.create("tag", { id: "t1" });
    await before.link("post", "tags", "p1", ["t1"]);
    const label = entity("label", {}).renamedFrom("tag").timestamps(false);
    const labelled = entity("post", { tags: manyToMany(() => label) }).timestamps(false);
    const after = await start([labelled, label]);
    await push(after);
    expect(await after.links("post", "tags", ["p1"])).toEqual([{ source: "p1", target: "t1" }]);
    await after.unlink("post", "tags", "p1", ["t1"]);
    expect(await after.links("post", "tags", ["p1"])).toEqual([]);
  });

  it("keeps pairs in a table named after the two models, once their relation is clear", async () => {
    const { start, rows } = await place();
    const tag = entity("tag", {}).timestamps(false);
    const entities = (...relations: readonly string[]) => {
      const members = relations.map((relation) => [relation, manyToMany(() => tag)] as const);
      return [entity("post", Object.fromEntries(members)).timestamps(false), tag];
    };
    const before = await start(entities("tags"));
    await push(before);
    await before.create("post", { id: "p1" });
    await before.create("tag", { id: "t1" });
    await before.link("post", "tags", "p1", ["t1"]);
    await rows('ALTER TABLE "_post_tags" RENAME TO "_postTotag"');
    const several = await start(entities("tags", "topics"));
    const failure = await several.schema?.push().catch((error: unknown) => error);
    expect((failure as ConfigurationError).problems).toEqual(
      ["tags", "topics"].map(
        (relation) =>
          `post.${relation}: the database has the table "_postTotag" from when one relation connected the two entities; say which one it was with .renamedFrom("postTotag")`,
      ),
    );
    const told = entity("post", {
      tags: manyToMany(() => tag).renamedFrom("postTotag"),
      topics: manyToMany(() => tag),
    }).timestamps(false);
    const after = await start([told, tag]);
    await push(after);
    expect(await after.links("post", "tags", ["p1"])).toEqual([{ source: "p1", target: "t1" }]);
    await rows('ALTER TABLE "_post_tags" RENAME TO "_postTotag"');
    const alone = await start(entities("tags"));
    expect(await alone.schema?.pending()).toEqual(['table "_postTotag" is to be renamed to "_post_tags"']);
  });

  it("may have had the name of its column", async () => {
    const start = await database();
    const user = entity("user", { name: string }).timestamps(false);
    const before = await start([user, entity("task", { by: belongsTo(() => user).foreignKey("owner_key") })]);
    await push(before);
    await before.create("user", { id: "u1", name: "ann" });
    const moment = new Date(0);
    await before.create("task", { id: "t1", owner_key: "u1", createdAt: moment, updatedAt: moment });
    const after = await start([user, entity("task", { by: belongsTo(() => user).renamedFrom("owner_key") })]);
    await push(after);
    expect(await after.findOne("task", { id: "t1" })).toMatchObject({ byId: "u1" });
  });

  it("is refused if the database has both names, and nothing is changed", async () => {
    const start = await database();
    const both = [entity("note", { old: string, fresh: string }), entity("post", { title: string })];
    await push(await start([...both, entity("article", { title: string })]));
    const after = await start([
      entity("note", { fresh: string.renamedFrom("old") }),
      entity("article", { title: string }).renamedFrom("post"),
    ]);
    const failure = await after.schema?.push().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as ConfigurationError).problems).toEqual([
      'article.renamedFrom("post"): the database has both tables; move the rows and drop "post", or remove .renamedFrom()',
      'note.fresh: the database has this column and "old", which it is renamed from; move the values and drop "old", or remove .renamedFrom()',
    ]);
    const again = await start([...both, entity("article", { title: string })]);
    expect(await again.schema?.pending()).toEqual([]);
  });
});
