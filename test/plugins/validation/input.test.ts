import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import {
  belongsTo,
  bool,
  datetime,
  email,
  entity,
  enums,
  float,
  hasMany,
  int,
  json,
  manyToMany,
  string,
} from "../../../src/entity/index.ts";
import { createPlugin } from "../../../src/gate/index.ts";
import { type User, ValidationFailedError } from "../../../src/kernel/index.ts";
import { validation } from "../../../src/plugins/validation/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";

const tag = entity("tag", { word: string }).build();
const account = entity("account", { name: string, posts: hasMany((): unknown => post) }).build();
let made = 0;
const post = entity("post", {
  title: string.trim().min(3).max(20),
  body: string.optional(),
  mail: email.lower().optional(),
  kind: enums("news", "story").default("news"),
  views: int.default(0),
  score: float.optional(),
  published: bool.default(false),
  publishedAt: datetime.optional(),
  extra: json.default({ list: [1] }),
  serial: int.default(() => ++made),
  secret: string.optional().readonly(),
  author: belongsTo(() => account).optional(),
  tags: manyToMany(() => tag),
}).build();

const seed = {
  account: [
    { id: "ann", name: "Ann" },
    { id: "bob", name: "Bob" },
  ],
  post: [{ id: "p1", title: "first", kind: "news", views: 1, published: false, extra: {}, serial: 1, authorId: "ann" }],
};

/** Rules and field rules are tested elsewhere; here all callers may do everything, unless a test narrows it. */
async function boot(unwritable: readonly string[] = []) {
  const kernel = createFakeKernel().withEntities(account, tag, post).withDriver(memoryDriver(seed));
  await kernel.use(validation());
  const narrow = createPlugin({
    id: "narrow",
    setup: ({ hooks }) =>
      hooks.on("access:mask", (draft) => {
        const writable = new Set([...draft.mask.writable].filter((name) => !unwritable.includes(name)));
        draft.mask = { ...draft.mask, writable };
      }),
  });
  await kernel.use(narrow);
  return kernel.as({ id: "ann" });
}

type Outcome = {
  readonly record: Record<string, unknown>;
  readonly ignored: readonly string[];
  readonly error?: ValidationFailedError;
};

async function write(data: Record<string, unknown>, id?: string, unwritable?: readonly string[]): Promise<Outcome> {
  const kernel = await boot(unwritable);
  try {
    const kind = id === undefined ? "create" : "update";
    const { records, ignored } = await kernel.operation({ kind, entity: "post", id, data });
    return { record: records[0] ?? {}, ignored };
  } catch (error) {
    if (error instanceof ValidationFailedError) return { record: {}, ignored: [], error };
    throw error;
  }
}

const errorsOf = async (data: Record<string, unknown>, id?: string): Promise<unknown> =>
  (await write(data, id)).error?.errors;

describe("a submitted body", () => {
  it("may contain names that no caller may write, which are ignored", async () => {
    const { record, ignored } = await write({ title: "abc", id: "mine", createdAt: "x", updatedAt: 7, secret: "s" });
    expect(record.id).not.toBe("mine");
    expect(record.createdAt).toBeInstanceOf(Date);
    expect(record.secret).toBeNull();
    expect(ignored).toEqual([]);
  });

  it("may contain the id of an update if it equals the path's", async () => {
    expect((await write({ id: "p1", title: "again" }, "p1")).record).toMatchObject({ id: "p1", title: "again" });
    expect(await errorsOf({ id: "p2", title: "again" }, "p1")).toEqual({ id: "must be the id in the path" });
  });

  it("may contain fields that the caller may not write, which are ignored and named", async () => {
    const { record, ignored } = await write({ title: "abc", views: 9, score: 1 }, undefined, ["views", "score"]);
    expect(record).toMatchObject({ title: "abc", views: 0, score: null });
    expect(ignored).toEqual(["views", "score"]);
  });

  it("is refused for unknown names, with suggestions that the caller may write", async () => {
    expect(await errorsOf({ title: "abc", titel: "x", password2: 1, _count: {}, tagIds: [] })).toEqual({
      titel: 'is not a field; did you mean "title"?',
      password2: "is not a field",
      _count: "is not a field",
      tagIds: 'is not a field; did you mean "tagsIds"?',
    });
    const { error } = await write({ vews: 1 }, undefined, ["views"]);
    expect(error?.issues).toEqual([{ path: ["vews"], code: "unrecognized_keys", message: "is not a field" }]);
  });

  it("is refused without reporting every unknown name", async () => {
    const nonsense = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 1]));
    expect((await write(nonsense)).error?.issues).toHaveLength(20);
  });

  it("is refused for names of JavaScript's own properties", async () => {
    for (const body of ['{"__proto__":{"title":"abc"}}', '{"constructor":1,"title":"abc"}', '{"prototype":1}'])
      await expect(write(JSON.parse(body) as Record<string, unknown>)).rejects.toMatchObject({
        status: 400,
        code: "BAD_REQUEST",
      });
    expect(({} as { title?: string }).title).toBeUndefined();
  });

  it("may have a property without a value, which counts as absent", async () => {
    expect((await write({ title: "abc", views: undefined, nonsense: undefined })).record).toMatchObject({ views: 0 });
  });

  it("may contain related records as include returned them, which are ignored", async () => {
    const included = { author: { id: "ann", name: "Ann" }, tags: [{ id: "t1", word: "x" }] };
    expect((await write({ title: "abc", authorId: "ann", ...included })).record).toMatchObject({ authorId: "ann" });
    expect((await write({ ...included, author: null, authorId: "bob" }, "p1")).record).toMatchObject({
      authorId: "bob",
    });
    const kernel = await boot();
    const data = { name: "Cat", posts: [{ id: "p1" }] };
    await expect(kernel.operation({ kind: "create", entity: "account", data })).resolves.toBeDefined();
  });

  it("is refused if a related record and a key disagree", async () => {
    expect(await errorsOf({ title: "abc", authorId: "ann", author: { id: "bob" } })).toEqual({
      author: "does not agree with authorId",
    });
  });

  it("is refused for a write through a relation", async () => {
    for (const author of ["ann", 1, {}, { link: { id: "ann" } }, [{ id: "ann" }]])
      expect(await errorsOf({ title: "abc", author })).toEqual({
        author: "is a relation and cannot be written; write authorId",
      });
    expect(await errorsOf({ title: "abc", tags: [{ word: "new" }] })).toEqual({
      tags: "is a relation and cannot be written; write tagsIds",
    });
    // Without the plugin that handles them.
    expect(await errorsOf({ title: "abc", author: { connect: "ann" } })).toEqual({
      author: "is a relation and cannot be written",
    });
    const kernel = await boot();
    const data = { name: "Cat", posts: { create: [{}] } };
    const creating = kernel.operation({ kind: "create", entity: "account", data });
    await expect(creating).rejects.toMatchObject({ errors: { posts: "is a relation and cannot be written" } });
  });

  it("keeps the links of a manyToMany relation unchanged", async () => {
    const kernel = await boot(["tagsIds"]);
    const links = [1, "not checked here"];
    let seen: unknown;
    const watch = createPlugin({
      id: "watch",
      setup: ({ hooks }) =>
        hooks.on("operation:protect", ({ data }) => {
          seen = data.tagsIds;
          delete data.tagsIds;
        }),
    });
    await kernel.use(watch);
    await kernel.operation({ kind: "create", entity: "post", data: { title: "abc", tagsIds: links } });
    expect(seen).toBe(links);
  });
});

describe("values", () => {
  it("are validated by the kind of their field, and named in the error", async () => {
    const { error } = await write({
      title: "  ab  ",
      body: 7,
      mail: "nobody",
      kind: "rumour",
      views: { increment: 1 },
      score: "1.5",
      published: "true",
      publishedAt: "2024-02-30",
      authorId: { ne: "x" },
    });
    expect(error?.errors).toEqual({
      title: "must be at least 3 characters",
      body: "must be a string",
      mail: "must be an e-mail address",
      kind: "must be one of news, story",
      views: "must be a whole number between -2147483648 and 2147483647",
      score: "must be a finite number",
      published: "must be true or false",
      publishedAt: expect.stringContaining("must be an ISO 8601 date"),
      authorId: "must be a string",
    });
    expect(error?.toJSON()).toMatchObject({
      code: "VALIDATION_FAILED",
      status: 400,
      message: "Validation failed",
      issues: expect.arrayContaining([
        { path: ["title"], code: "too_small", message: "must be at least 3 characters" },
      ]),
    });
    expect(error?.issues.map(({ path, code }) => [path[0], code])).toEqual([
      ["title", "too_small"],
      ["body", "invalid_type"],
      ["mail", "invalid_format"],
      ["kind", "custom"],
      ["views", "invalid_type"],
      ["score", "invalid_type"],
      ["published", "invalid_type"],
      ["publishedAt", "custom"],
      ["authorId", "invalid_type"],
    ]);
  });

  it("are stored as the kind parses them", async () => {
    const { record } = await write({
      title: "  abc ",
      mail: "A@X.COM",
      publishedAt: "2024-05-31T12:00:00+02:00",
      extra: [null],
    });
    expect(record).toMatchObject({
      title: "abc",
      mail: "a@x.com",
      publishedAt: new Date("2024-05-31T10:00:00Z"),
      extra: [null],
    });
  });

  it("are never part of a message", async () => {
    const { error } = await write({
      title: "xy",
      mail: "canary-1",
      kind: "canary-2",
      views: "canary-3",
      authorId: 4711,
    });
    expect(JSON.stringify(error?.toJSON())).not.toMatch(/canary|4711|"xy"/);
  });

  it("are required unless optional or defaulted", async () => {
    expect(await errorsOf({})).toEqual({ title: "is required" });
    expect(await errorsOf({ title: null, views: null })).toEqual({ title: "is required", views: "is required" });
    expect((await write({ title: "abc", body: null })).record).toMatchObject({
      body: null,
      score: null,
      authorId: null,
    });
  });

  it("are required on update only if given", async () => {
    expect((await write({ views: 5 }, "p1")).record).toMatchObject({ title: "first", views: 5 });
    expect(await errorsOf({ title: null }, "p1")).toEqual({ title: "is required" });
    expect((await write({ authorId: null }, "p1")).record).toMatchObject({ authorId: null });
    expect((await write({}, "p1")).record).toMatchObject({ title: "first" });
  });

  it("get their defaults on create only", async () => {
    const { record } = await write({ title: "abc" });
    expect(record).toMatchObject({ kind: "news", views: 0, published: false, extra: { list: [1] }, serial: made });
    expect((await write({ title: "xyz" }, "p1")).record).toMatchObject({ serial: 1, extra: {} });
  });

  it("never share a default object", async () => {
    const kernel = await boot();
    const defaults: unknown[] = [];
    const watch = createPlugin({
      id: "watch",
      setup: ({ hooks }) => hooks.on("operation:protect", ({ data }) => void defaults.push(data.extra)),
    });
    await kernel.use(watch);
    for (const title of ["one", "two"]) await kernel.operation({ kind: "create", entity: "post", data: { title } });
    expect(defaults[0]).toEqual(defaults[1]);
    expect(defaults[0]).not.toBe(defaults[1]);
  });

  it("of a foreign key are ids", async () => {
    for (const authorId of ["", "x".repeat(129), "a\u0000b", "\ud800", 1, ["ann"]])
      expect(Object.keys((await errorsOf({ title: "abc", authorId })) as object)).toEqual(["authorId"]);
  });
});

describe("field validators", () => {
  const checked = entity("checked", {
    even: int.validate((value) => value % 2 === 0, "must be even").validate((value) => value < 10, "must be small"),
    truthy: int.optional().validate((value) => value as never, "must be strictly true"),
    broken: string.optional().validate((value) => (value as never as { a: { b: boolean } }).a.b, "must not break"),
    later: string.optional().validate((async () => true) as never, "must answer at once"),
  }).build();

  async function check(data: Record<string, unknown>): Promise<unknown> {
    const kernel = createFakeKernel().withEntities(checked).withDriver(memoryDriver());
    await kernel.use(validation());
    try {
      await kernel.operation({ kind: "create", entity: "checked", data });
      return "ok";
    } catch (error) {
      return (error as ValidationFailedError).issues.map(({ path, message }) => `${path.join(".")} ${message}`);
    }
  }

  it("pass on strictly true only", async () => {
    expect(await check({ even: 2 })).toBe("ok");
    expect(await check({ even: 3 })).toEqual(["even must be even"]);
    expect(await check({ even: 13 })).toEqual(["even must be even", "even must be small"]);
    expect(await check({ even: 2, truthy: 1 })).toEqual(["truthy must be strictly true"]);
  });

  it("that throw or return a promise have failed", async () => {
    expect(await check({ even: 2, broken: "x", later: "x" })).toEqual([
      "broken must not break",
      "later must answer at once",
    ]);
  });

  it("are not called for values of the wrong type, or null", async () => {
    expect(await check({ even: "2", truthy: null })).toEqual([
      "even must be a whole number between -2147483648 and 2147483647",
    ]);
  });
});

describe("at the start of an app", () => {
  it("refuses a default that is invalid for its own field", async () => {
    const wrong = entity("wrong", {
      size: int.min(3).default(1),
      name: string.optional().default(null as never),
    }).build();
    const kernel = createFakeKernel().withEntities(wrong).withDriver(memoryDriver());
    await expect(kernel.use(validation())).rejects.toThrow("wrong.size: the default value must be at least 3");
    expect(kernel.seen.problems).toHaveLength(1);
  });

  it("declares its hooks and its capability", async () => {
    const kernel = await boot();
    expect(kernel.seen).toMatchObject({
      provides: ["validation"],
      hooks: expect.arrayContaining(["operation:normalize", "operation:validate"]),
    });
  });
});

const nobody: User | null = null;
describe("reads and deletes", () => {
  it("are not validated", async () => {
    const kernel = (await boot()).as(nobody);
    await expect(kernel.operation({ kind: "delete", entity: "post", id: "p1" })).resolves.toBeDefined();
  });
});
