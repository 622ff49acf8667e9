import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  createEntityStep,
  deleteEntityStep,
  type EntityLike,
  entity,
  manyToMany,
  memoryDriver,
  runWorkflow,
  type Step,
  step,
  string,
  updateEntityStep,
  workflow,
} from "../../../src/index.ts";
import { whileHeld } from "../../support/while-held.ts";
import { SHARED_DATABASES, type SharedDatabase } from "../../support/workflows/order-databases.ts";
import { workflowApp } from "../../support/workflows/workflow-app.ts";

// The effects of entity steps on related records.

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const rules = { read: ["everyone"], create: ["everyone"] } as const;
const tag = entity("tag", { name: string }).rules(rules);
const post: EntityLike = entity("post", {
  title: string,
  tags: manyToMany(() => tag),
  related: manyToMany(() => post as never),
}).rules({ ...rules, update: ["everyone"], delete: ["authenticated"] });
const shelf = entity("shelf", { name: string, posts: manyToMany(() => post as never) }).rules(rules);
const comment = entity("comment", { text: string, post: belongsTo(() => post as never).onDelete("cascade") }).rules(
  rules,
);
const memo = entity("memo", { text: string, post: belongsTo(() => post as never).optional() }).rules(rules);
const fails = step("fails", () => Promise.reject(new TypeError("no more")));

interface Client {
  create(data: object): Promise<{ id: string }>;
  get(id: string, query?: object): Promise<Record<string, unknown>>;
}

const DATABASES = [
  ...SHARED_DATABASES,
  ["memory", async () => ({ driver: () => memoryDriver(), drop: async () => {} }) as unknown as SharedDatabase],
] as const;

describe.each(DATABASES)("on %s", (_, open) => {
  let database: SharedDatabase;
  beforeEach(async () => {
    database = await open();
    cleanups.push(database.drop);
  });

  /** Runs some steps that end with one that fails, on `p` with the tags `a` and `b`. */
  async function takenBack(...steps: readonly Step[]) {
    const definition = workflow([...steps, fails]);
    const entities = [tag, post, shelf, comment, memo];
    const app = await workflowApp({ driver: database.driver(), entities, workflows: [definition] });
    cleanups.push(app.close);
    const system = app.api.asSystem() as unknown as Record<string, Client>;
    const { tag: tags, post: posts, shelf: shelves } = system as Record<"tag" | "post" | "shelf", Client>;
    for (const id of ["a", "b", "c"]) await tags.create({ id, name: id });
    await posts.create({ id: "q", title: "other" });
    await posts.create({ id: "p", title: "one", tagsIds: ["a", "b"], relatedIds: ["q"] });
    await posts.create({ id: "r", title: "third", relatedIds: ["p"] });
    await shelves.create({ id: "s", name: "s", postsIds: ["p", "q"] });
    const run = () => runWorkflow(definition, { resolve: app.api.resolve, user: { id: "ann" } });
    const ids = async (client: Client, id: string, relation: string) =>
      ((await client.get(id, { include: [relation] }))[relation] as { id: string }[]).map((one) => one.id).sort();
    const linked = async () => ({
      tags: await ids(posts, "p", "tags"),
      related: await ids(posts, "p", "related"),
      third: await ids(posts, "r", "related"),
      shelf: await ids(shelves, "s", "posts"),
    });
    return { run, linked, system };
  }
  const LINKED = { tags: ["a", "b"], related: ["q"], third: ["p"], shelf: ["p", "q"] };

  it("a restored record is linked again, on both sides", async () => {
    const { run, linked } = await takenBack(deleteEntityStep("post", { id: "p" }));
    expect(await linked()).toEqual(LINKED);
    expect(await run()).toMatchObject({ status: "compensated", compensatedSteps: [expect.stringContaining("-post")] });
    expect(await linked()).toEqual(LINKED);
  });

  it("it is linked to the records that still exist", async () => {
    const gone = step("gone", ({ client }) => client(tag).delete("b"), undefined, { asSystem: true });
    const { run, linked } = await takenBack(deleteEntityStep("post", { id: "p" }), gone);
    expect(await run()).toMatchObject({ status: "compensated" });
    expect(await linked()).toEqual({ ...LINKED, tags: ["a"] });
  });

  it("changed links are reverted, and those of other callers remain", async () => {
    const changed = updateEntityStep("post", { id: "p" }, { title: "new", tagsIds: ["b", "c"] });
    const { run, linked, system } = await takenBack(changed);
    expect(await run()).toMatchObject({ status: "compensated", compensatedSteps: [expect.stringContaining("-post")] });
    expect(await linked()).toEqual(LINKED);
    expect(await system.post?.get("p")).toMatchObject({ title: "one" });
  });

  it("links of a created record are deleted with it", async () => {
    const { run, linked } = await takenBack(createEntityStep("post", { title: "new", tagsIds: ["a"] }));
    expect(await run()).toMatchObject({ status: "compensated" });
    expect(await linked()).toEqual(LINKED);
  });

  it.each(["comment", "memo"])("a record whose deletion would change a %s is not deleted", async (other) => {
    const { run, linked, system } = await takenBack(deleteEntityStep("post", { id: "p" }));
    await system[other]?.create({ id: "x", text: "about p", postId: "p" });
    const { error, status, compensatedSteps } = await run();
    expect([error?.message, status, compensatedSteps]).toEqual([
      `post p cannot be deleted in a way that can be taken back: ${other}.post points to it`,
      "compensated",
      [],
    ]);
    expect(await linked()).toEqual(LINKED);
    expect(await system[other]?.get("x")).toMatchObject({ postId: "p" });
  });
});

describe.each(SHARED_DATABASES.filter(([name]) => name === "PostgreSQL"))("on %s", (_, open) => {
  it("a record that others start to refer to while it waits is not deleted", async () => {
    const database = await open();
    cleanups.push(database.drop);
    const definition = workflow([deleteEntityStep("post", { id: "p" }), fails]);
    const entities = [tag, post, shelf, comment, memo];
    const app = await workflowApp({ driver: database.driver(), entities, workflows: [definition] });
    cleanups.push(app.close);
    const { post: posts } = app.api.asSystem() as unknown as Record<"post", Client>;
    await posts.create({ id: "p", title: "one" });
    const now = "now(), now()";
    const held = `insert into "comment" ("id", "text", "postId", "createdAt", "updatedAt") values ('c', 'c', 'p', ${now})`;
    const run = () => runWorkflow(definition, { resolve: app.api.resolve, user: { id: "ann" } });
    expect(await whileHeld(database.address, { held, end: "commit" }, run)).toMatchObject({ compensatedSteps: [] });
    expect(await app.api.driver.count("comment", { postId: "p" })).toBe(1);
  });
});
