import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, int, manyToMany, string, text } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const everyone = ["everyone"];
const open = defineRule("openTags", () => ({ hidden: 0 }));
const post = entity("post", {
  body: text.optional(),
  draft: text.optional().readable("admin"),
  notes: text.optional().readable("owner"),
  comments: hasMany(() => comment),
}).rules({ read: everyone });
const comment = entity("comment", {
  said: string,
  post: belongsTo(() => post),
  tags: manyToMany(() => tag),
}).rules({ read: everyone });
const tag = entity("tag", { hidden: int.default(0), about: text.optional() }).rules({ read: [open] });

const LONG = "x".repeat(100_000);

describe("related records that appear in several records", () => {
  const app = createTestApp({ entities: [post.ownedBy("id"), comment, tag], limits: { includedRecords: 300 } });
  beforeAll(async () => {
    await app.api.ready;
    const { post: posts, comment: comments, tag: tags } = app.api.asSystem();
    await posts.create({ id: "long", body: LONG });
    await posts.create({ id: "secret", draft: LONG, notes: LONG });
    await tags.create({ id: "long", about: LONG });
    await tags.create({ id: "plain" });
    for (let index = 0; index < 290; index++) await tags.create({ id: `hidden ${index}`, hidden: 1 });
    const hidden = Array.from({ length: 290 }, (_, index) => `hidden ${index}`);
    for (let index = 0; index < 100; index++) {
      await comments.create({ said: "long", postId: "long", tagsIds: ["long"] });
      await comments.create({
        said: "secret",
        postId: "secret",
        tagsIds: index === 0 ? ["plain", ...hidden] : ["plain"],
      });
    }
  });
  afterAll(() => app.close());

  const read = async (query: string, caller = app.as(null)) => {
    const { status, body } = await caller.request("GET", `/api/comments?${query}`);
    return [status, (body as { message?: string }).message];
  };

  it("count each time", async () => {
    const refused = (name: string) => [400, expect.stringMatching(`Including "${name}" would bring more than 4194304`)];
    expect(await read("said=long&include=post")).toEqual(refused("post"));
    expect(await read("said=long&include=tags")).toEqual(refused("tags"));
    expect(await read("said=long&include=post&_limit=30")).toEqual([200, undefined]);
    // Each of the hundred comments repeats its post.
    expect(await read("said=long&include=post.comments.post&_limit=1")).toEqual(refused("post"));
  });

  it("count only what they show", async () => {
    expect(await read("said=secret&include=post")).toEqual([200, undefined]);
    const admin = app.as({ id: "root", role: "admin" });
    expect((await read("said=secret&include=post", admin))[0]).toBe(400);
    const owner = app.as({ id: "secret" });
    expect((await read("said=secret&include=post", owner))[0]).toBe(400);
  });

  it("do not count pairs that the caller may not read", async () => {
    const include = encodeURIComponent(JSON.stringify({ tags: { count: true } }));
    expect(await read(`said=secret&include=${include}`)).toEqual([200, undefined]);
  });
});
