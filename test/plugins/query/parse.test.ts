import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { type AnyEntity, entity, isKeelsonError, string } from "../../../src/entity/index.ts";
import type { OperationQuery, QueryPart } from "../../../src/gate/index.ts";
import { createPlugin, type Plugin } from "../../../src/gate/index.ts";
import { DEFAULT_LIMITS } from "../../../src/kernel/index.ts";
import { createQueryParser } from "../../../src/plugins/query/parse-query.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { deny, hide, library } from "../crud/library.ts";

const EVERYTHING: readonly QueryPart[] = ["filter", "sort", "page", "shape"];

async function parserFor(
  plugins: readonly Plugin[] = [],
  parts: readonly QueryPart[] = EVERYTHING,
  others: readonly string[] = [],
) {
  const kernel = createFakeKernel()
    .withEntities(...library)
    .withDriver(memoryDriver());
  for (const plugin of plugins) await kernel.use(plugin);
  const parse = createQueryParser(kernel.model).reads(parts, others);
  const scope = kernel.scope();
  return async (search: string, name = "post"): Promise<OperationQuery> =>
    parse(search, kernel.model.get(name) as AnyEntity, scope);
}

const parse = await parserFor();

async function where(search: string): Promise<unknown> {
  return (await parse(search)).where;
}

async function problem(search: string, read = parse, name = "post"): Promise<string> {
  const error: unknown = await read(search, name).then(
    (query) => expect.unreachable(`${search} was read as ${JSON.stringify(query)}`),
    (reason: unknown) => reason,
  );
  if (!isKeelsonError(error)) throw error;
  expect([error.status, error.code]).toEqual([400, "BAD_REQUEST"]);
  return error.message;
}

describe("splitting a query string", () => {
  it("decodes names and values once, and reads + as a space", async () => {
    expect(await where("title=a+b%2Bc%2520d%26e")).toEqual({ title: { eq: "a b+c%20d&e" } });
    expect(await where("%74itle=x")).toEqual({ title: { eq: "x" } });
  });

  it("skips empty parts and reads a name without = as an empty value", async () => {
    expect(await where("&&title&")).toEqual({ title: { eq: "" } });
  });

  it("keeps everything after the first = in the value", async () => {
    expect(await where("title=a=b==")).toEqual({ title: { eq: "a=b==" } });
  });

  it.each(["title=%", "title=%zz", "title=%ff", "%E0%A4%A=1", "title=%ed%a0%80"])(
    "refuses the broken escape %s",
    async (search) => {
      expect(await problem(search)).toMatch(/broken escape/);
    },
  );

  it.each(["title=a%00b", "%00=1", "title=\ud800", "\udc00=1"])(
    "refuses text that cannot be stored (%j)",
    async (search) => {
      expect(await problem(search)).toMatch(/NUL, or half of a surrogate pair/);
    },
  );

  it.each(["__proto__=1", "constructor=1", "toString=1", "__proto__.name=1", "author.__proto__=1", "%5f_proto__=1"])(
    "ignores inherited property names (%s)",
    async (search) => {
      expect(await problem(search)).toMatch(/^Unknown parameter "/);
    },
  );

  it("refuses more parameters than the limit, but counts a repeated name once", async () => {
    const many = (count: number): string => Array.from({ length: count }, (_, i) => `p${i}=1`).join("&");
    expect(await problem(many(DEFAULT_LIMITS.parameters + 1))).toBe("A query takes at most 200 parameters");
    const ids = Array.from({ length: 1_000 }, (_, i) => `id=${i}`).join("&");
    expect((await parse(ids)).limit).toBe(1_000);
  });
});

describe("conditions", () => {
  it("test for equality with a bare field name", async () => {
    expect(await where("published=true")).toEqual({ published: { eq: true } });
    expect(await where("status=live")).toEqual({ status: { eq: "live" } });
  });

  it("match one of several values when the name is repeated", async () => {
    expect(await where("views=1&views=2")).toEqual({ views: { in: [1, 2] } });
  });

  it.each([
    ["views_ne=3", { views: { ne: 3 } }],
    ["views_gt=3", { views: { gt: 3 } }],
    ["views_gte=-3", { views: { gte: -3 } }],
    ["views_lt=3", { views: { lt: 3 } }],
    ["views_lte=3", { views: { lte: 3 } }],
    ["views_in=1,2", { views: { in: [1, 2] } }],
    ["views_nin=1,2", { views: { nin: [1, 2] } }],
    ["views_in=", { views: { in: [] } }],
    ["body_like=50%25_", { body: { like: "50%_" } }],
    ["body_starts=x", { body: { starts: "x" } }],
    ["body_ends=x", { body: { ends: "x" } }],
    ["body_null=true", { body: { null: true } }],
    ["body_null=false", { body: { null: false } }],
    ["meta_null=true", { meta: { null: true } }],
    ["status_like=ra", { status: { like: "ra" } }],
    ["authorId=u1", { authorId: { eq: "u1" } }],
    ["id_gt=a", { id: { gt: "a" } }],
    ["score=1.5e3", { score: { eq: 1500 } }],
    ["publishedAt_gte=2024-05-31", { publishedAt: { gte: new Date("2024-05-31T00:00:00Z") } }],
    ["publishedAt_lt=2024-05-31T12:00:00%2B02:00", { publishedAt: { lt: new Date("2024-05-31T10:00:00Z") } }],
    ["createdAt_gt=2024-05-31T12:00:00Z", { createdAt: { gt: new Date("2024-05-31T12:00:00Z") } }],
  ])("reads %s", async (search, expected) => {
    expect(await where(search)).toEqual(expected);
  });

  it("keep the text of text fields unchanged", async () => {
    expect(await where("title=007")).toEqual({ title: { eq: "007" } });
    expect(await where("title=true")).toEqual({ title: { eq: "true" } });
    expect(await where("title=a,b")).toEqual({ title: { eq: "a,b" } });
  });

  it("accept commas and backslashes in lists after a backslash", async () => {
    expect(await where("title_in=a%5C,b,c%5C%5C,d%5Ce")).toEqual({ title: { in: ["a,b", "c\\", "d\\e"] } });
  });

  it("are combined with AND, also on one field", async () => {
    expect(await where("views_gte=1&views_lt=9&published=true")).toEqual({
      AND: [{ views: { gte: 1 } }, { views: { lt: 9 } }, { published: { eq: true } }],
    });
  });

  it("prefer a field of exactly that name to an operator", async () => {
    expect(await where("title_like=x")).toEqual({ title_like: { eq: "x" } });
    expect(await where("title_like_like=x")).toEqual({ title_like: { like: "x" } });
  });

  it("read a name as an operator if the caller may not see the field of that name", async () => {
    const read = await parserFor([hide("post", "title_like")]);
    expect((await read("title_like=x")).where).toEqual({ title: { like: "x" } });
  });

  it("ignore a lone _ (a cache buster)", async () => {
    expect(await where("_=1699999999&views=1")).toEqual({ views: { eq: 1 } });
    expect(await where("_=1&_=2")).toBeUndefined();
  });

  it.each([
    ["views=abc", '"views" must be a whole number between -2147483648 and 2147483647.'],
    ["views=007", '"views" must be a whole number between -2147483648 and 2147483647.'],
    ["views=", '"views" must be a whole number between -2147483648 and 2147483647.'],
    ["views_in=1,,2", '"views_in" must be a whole number between -2147483648 and 2147483647.'],
    ["views=1&views=x", '"views" must be a whole number between -2147483648 and 2147483647.'],
    ["score=NaN", '"score" must be a finite number.'],
    ["published=1", '"published" must be true or false.'],
    ["body_null=1", '"body_null" must be true or false.'],
    ["status=other", '"status" must be one of draft, live.'],
    ["published_gt=true", '"published_gt" cannot be used; operators on "published" are _ne _in _nin _null.'],
    ["meta=x", '"meta" cannot be used; operators on "meta" are _null.'],
    ["views_gt=1&views_gt=2", '"views_gt" is given more than once.'],
    ["views_in=1&views_in=2", '"views_in" is given more than once.'],
  ])("refuse %s", async (search, message) => {
    expect(await problem(search)).toBe(message);
  });

  it("refuse dates that do not exist", async () => {
    expect(await problem("publishedAt=2024-02-30")).toMatch(/^"publishedAt" must be an ISO 8601 date/);
  });

  it("are limited in number, including q", async () => {
    const conditions = Array.from(
      { length: 12 },
      (_, i) => `author.${["name", "email", "id"][i % 3]}${["_ne", "_like", "_starts", "_ends"][i % 4]}=x`,
    );
    const own = ["title", "body", "secret"].flatMap((name) =>
      ["_ne", "_gt", "_gte", "_lt", "_lte", "_starts", "_ends"].map((suffix) => `${name}${suffix}=x`),
    );
    const search = [...conditions, ...own].slice(0, DEFAULT_LIMITS.conditions);
    expect(search).toHaveLength(32);
    expect(await where(search.join("&"))).toBeDefined();
    expect(await problem([...search, "q=x"].join("&"))).toBe("A query takes at most 32 conditions.");
    expect(await problem([...search, "views=1"].join("&"))).toBe("A query takes at most 32 conditions.");
  });

  it("accept at most 200 values in a list, and 1,000 ids", async () => {
    const list = (count: number): string => Array.from({ length: count }, (_, i) => i).join(",");
    expect(await where(`views_in=${list(200)}`)).toBeDefined();
    expect(await problem(`views_in=${list(201)}`)).toBe('"views_in" takes at most 200 values.');
    expect(await problem(Array.from({ length: 201 }, (_, i) => `views=${i}`).join("&"))).toBe(
      '"views" takes at most 200 values.',
    );
    expect(await where(`id_in=${list(1_000)}`)).toBeDefined();
    expect(await problem(`id_in=${list(1_001)}`)).toBe('"id_in" takes at most 1000 values.');
  });
});

describe("conditions through a relation", () => {
  it("reach related records at any level, through to-one and to-many relations", async () => {
    expect(await where("author.name_like=ann")).toEqual({ author: { name: { like: "ann" } } });
    expect(await where("comments.text=x")).toEqual({ comments: { text: { eq: "x" } } });
    expect(await where("tags.id=a&tags.id=b")).toEqual({ tags: { id: { in: ["a", "b"] } } });
    expect(await where("comments.author.name=x&comments.author.id=u1&comments.text=y")).toEqual({
      comments: { AND: [{ text: { eq: "y" } }, { author: { AND: [{ name: { eq: "x" } }, { id: { eq: "u1" } }] } }] },
    });
    expect(await problem("comments.writer.name=x")).toMatch(/^Unknown parameter "comments.writer.name"/);
  });

  it("on the same relation apply to the same record", async () => {
    expect(await where("comments.text_like=x&comments.authorId=u1")).toEqual({
      comments: { AND: [{ text: { like: "x" } }, { authorId: { eq: "u1" } }] },
    });
  });

  it("respond the same for an unreadable and an unknown relation", async () => {
    const read = await parserFor([deny("comment", "user")]);
    const [denied, missing] = [await problem("comments.text=x", read), await problem("commentz.text=x", read)];
    expect(denied.replace("comments", "commentz")).toBe(missing);
    expect(await problem("author.name=x", read)).toBe('Unknown parameter "author.name".');
  });

  it("respond the same for an unreadable and an unknown field of the target", async () => {
    const read = await parserFor([hide("user", "email")]);
    expect(await problem("author.email=x", read)).toBe(
      (await problem("author.emaik=x", read)).replace("emaik", "email"),
    );
  });

  it("are refused through a key that the caller may not read", async () => {
    const read = await parserFor([hide("post", "authorId")]);
    expect(await problem("author.name=x", read)).toBe('Unknown parameter "author.name".');
  });
});

describe("q", () => {
  it("is passed to the gate's search, next to the conditions", async () => {
    const read = await parserFor([]);
    expect(await read("q=x&title=y")).toMatchObject({ search: "x", where: { title: { eq: "y" } } });
    expect(await read("title=y")).not.toHaveProperty("search");
  });

  it("is ignored when empty and refused twice", async () => {
    expect(await where("q=")).toBeUndefined();
    expect(await problem("q=a&q=b")).toBe('"q" is given more than once.');
  });
});

describe("sort", () => {
  it("accepts both styles", async () => {
    const expected = [
      { field: "views", direction: "desc" },
      { field: "title", direction: "asc" },
    ];
    expect((await parse("_sort=-views,title")).sort).toEqual(expected);
    expect((await parse("_sort=views,title&_order=DESC,asc")).sort).toEqual(expected);
    expect((await parse("_sort=views,title&_order=desc")).sort).toEqual(expected);
  });

  it("is absent when empty", async () => {
    expect((await parse("_sort=&_order=")).sort).toBeUndefined();
  });

  it.each([
    ["_sort=titel", 'There is no field "titel" to sort by. Did you mean "title"?'],
    ["_sort=meta", 'There is no field "meta" to sort by.'],
    ["_order=asc&_sort=author.name,-author.name", '"_sort" names "author.name" twice.'],
    ["_sort=title,,views", 'There is no field "" to sort by.'],
    ["_sort=title,-title", '"_sort" names "title" twice.'],
    ["_sort=title&_order=up", '"_order" takes asc and desc.'],
    ["_order=asc", '"_order" needs "_sort".'],
    ["_sort=title&_order=asc,desc", '"_order" names more directions than "_sort" fields.'],
    ["_sort=-title&_order=asc", 'Say the direction of "title" with "-" or with "_order", not both.'],
    ["_sort=title&_sort=views", '"_sort" is given more than once.'],
    ["_sort=title,views,score,body,secret,status", '"_sort" takes at most 5 fields.'],
  ])("refuses %s", async (search, message) => {
    expect(await problem(search)).toBe(message);
  });
});

describe("pages", () => {
  it("are the first 100 with a total by default", async () => {
    expect(await parse("")).toEqual({ limit: 100, total: true });
    expect(await parse("views=1")).toMatchObject({ limit: 100, total: true });
  });

  it.each([
    ["_page=3&_limit=20", { limit: 20, offset: 40 }],
    ["_page=1", { limit: 100, offset: 0 }],
    ["_limit=1000", { limit: 1_000 }],
    ["_start=20&_end=40", { limit: 20, offset: 20 }],
    ["_end=40", { limit: 40, offset: 0 }],
    ["_start=20", { limit: 100, offset: 20 }],
    ["_start=20&_limit=5", { limit: 5, offset: 20 }],
    ["_after=abc&_limit=5", { limit: 5, after: "abc" }],
  ])("are read from %s", async (search, expected) => {
    const { limit, offset, after } = await parse(search);
    expect({ limit, ...(offset === undefined ? {} : { offset }), ...(after === undefined ? {} : { after }) }).toEqual(
      expected,
    );
  });

  it("contain all records requested by id if no page is given", async () => {
    const ids = Array.from({ length: 150 }, (_, i) => `id=${i}`).join("&");
    expect((await parse(ids)).limit).toBe(150);
    expect((await parse("id_in=a,b")).limit).toBe(2);
    expect((await parse(`${ids}&_limit=10`)).limit).toBe(10);
    expect((await parse(`${ids}&_page=2`)).limit).toBe(100);
    expect((await parse("id_in=")).limit).toBe(1);
  });

  it("have no total with _total=none", async () => {
    expect((await parse("_total=none")).total).toBe(false);
  });

  it.each(["0", "-1", "1.5", "abc", "+5", "1e3", "0x10", "01", "99999999999", "%20" + "5"])(
    "refuse %s as a size",
    async (size) => {
      expect(await problem(`_limit=${size}`)).toBe('"_limit" must be a whole number from 1.');
    },
  );

  it.each([
    ["_page=0", '"_page" must be a whole number from 1.'],
    ["_start=-1", '"_start" must be a whole number from 0.'],
    ["_start=5&_end=5", '"_end" must be a whole number from 6.'],
    ["_limit=1001", 'A page has at most 1000 records; ask for more with "_after".'],
    ["_start=0&_end=2000", 'A page has at most 1000 records; ask for more with "_after".'],
    ["_page=2&_start=1", '"_page" and "_start" cannot be combined.'],
    ["_after=x&_page=2", '"_after" and "_page" cannot be combined.'],
    ["_start=1&_end=2&_limit=1", '"_end" and "_limit" cannot be combined.'],
    ["_total=all", '"_total" takes the values exact, estimated and none.'],
    ["_limit=1&_limit=2", '"_limit" is given more than once.'],
    ["_perPage=2", 'Unknown parameter "_perPage".'],
  ])("refuse %s", async (search, message) => {
    expect(await problem(search)).toBe(message);
  });

  it("beyond 100,000 records are reached by keyset", async () => {
    expect((await parse("_start=100000&_limit=1")).offset).toBe(100_000);
    expect(await problem("_start=100001")).toMatch(/^At most 100000 records can be skipped; go on with "_after"/);
    expect(await problem("_page=1002&_limit=100")).toMatch(/_after/);
  });
});

describe("include and select", () => {
  it("read relations as a tree, under both names", async () => {
    const expected = { author: {}, comments: { author: {} } };
    expect((await parse("include=author,comments.author")).include).toEqual(expected);
    expect((await parse("include=author&_embed=comments,comments.author")).include).toEqual(expected);
    expect((await parse("_embed=author&_embed=comments&_embed=comments.author")).include).toEqual(expected);
    expect((await parse("include=")).include).toBeUndefined();
  });

  it("read columns", async () => {
    expect((await parse("select=id,title, views,title")).select).toEqual(["id", "title", "views"]);
    expect((await parse("select=")).select).toBeUndefined();
  });

  it.each([
    ["include=autor", 'There is no relation "autor" to include. Did you mean "author"?'],
    ["include=comments.autor", 'There is no relation "autor" to include. Did you mean "author"?'],
    ["include=title", 'There is no relation "title" to include.'],
    ["include=comments.", 'There is no relation "" to include.'],
    ["include=__proto__", 'There is no relation "__proto__" to include.'],
    ["include=comments.post.comments.post", '"include" goes at most 3 levels deep.'],
    ["select=titel", 'There is no field "titel" to select. Did you mean "title"?'],
    ["select=author", 'There is no field "author" to select. Did you mean "authorId"?'],
  ])("refuse %s", async (search, message) => {
    expect(await problem(search)).toBe(message);
  });

  it("accept at most 10 relations", async () => {
    const ten = "author,author.posts,parent,parent.author,parent.cover,comments,comments.author,cover,cover.post,tags";
    expect(await parse(`include=${ten}`)).toBeDefined();
    expect(await problem(`include=${ten},tags.posts`)).toBe('"include" takes at most 10 relations.');
  });

  it("respond the same for a relation with an unreadable key and an unknown one", async () => {
    const read = await parserFor([hide("post", "authorId")]);
    expect(await problem("include=author", read)).toBe('There is no relation "author" to include.');
    const other = await parserFor([hide("comment", "postId")]);
    expect(await problem("include=comments", other)).toBe('There is no relation "comments" to include.');
  });
});

describe("problems", () => {
  it("come with a suggestion", async () => {
    expect(await problem("titel=x")).toBe('Unknown parameter "titel". Did you mean "title"?');
    expect(await problem("veiws_gte=1")).toBe('Unknown parameter "veiws_gte". Did you mean "views_gte"?');
    expect(await problem("views_gtee=1")).toBe('Unknown parameter "views_gtee". Did you mean "views_gte"?');
    expect(await problem("views_between=1")).toBe(
      'Unknown parameter "views_between". Operators on "views" are _ne _in _nin _null _gt _gte _lt _lte.',
    );
    expect(await problem("limit=1")).toBe('Unknown parameter "limit". Did you mean "_limit"?');
    expect(await problem("autor.name=x")).toBe('Unknown parameter "autor.name". Did you mean "author.name"?');
    expect(await problem("author.nam_like=x")).toBe(
      'Unknown parameter "author.nam_like". Did you mean "author.name_like"?',
    );
  });

  it("are reported together, each with its parameter", async () => {
    const error: unknown = await parse("views=x&_limit=0&include=nobody").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: `"views" must be a whole number between -2147483648 and 2147483647. "_limit" must be a whole number from 1. There is no relation "nobody" to include.`,
      details: [{ parameter: "views" }, { parameter: "_limit" }, { parameter: "include" }],
    });
  });

  it("are reported up to eight", async () => {
    const search = Array.from({ length: 50 }, (_, i) => `unknown${i}=1`).join("&");
    const error: unknown = await parse(search).catch((reason: unknown) => reason);
    expect((error as { details: unknown[] }).details).toHaveLength(8);
  });

  it("never show more than the beginning of a name", async () => {
    const name = `${"x".repeat(63)}\u{1f600}${"y".repeat(1_000)}`;
    const message = await problem(encodeURIComponent(name));
    expect(message.length).toBeLessThan(120);
    expect(message.isWellFormed()).toBe(true);
  });

  it.each(["=x", "_gte=x", ".=x", "_secret=x", "author.=x", "author=x", "comments=x"])(
    "are reported for %s",
    async (search) => {
      expect(await problem(search)).toMatch(/^Unknown parameter "/);
    },
  );

  it.each([
    "NAME=x",
    "NAME_like=x",
    "NAME_zzz=x",
    "NAME_null=maybe",
    "_sort=NAME",
    "_sort=-NAME",
    "select=NAME",
    "include=NAME",
    "NAME.name=x",
  ])("are the same for an unreadable and an unknown field (%s)", async (search) => {
    const read = await parserFor([hide("post", "secret")]);
    const hidden = await problem(search.replace("NAME", "secret"), read);
    const unknown = await problem(search.replace("NAME", "secreu"), read);
    expect(hidden.replaceAll("secret", "secreu")).toBe(unknown);
    expect(unknown).not.toContain("secret");
  });
});

describe("surfaces", () => {
  it("accept only the parts that they request", async () => {
    const filters = await parserFor([], ["filter"], ["format"]);
    expect(await filters("views=1&format=csv")).toEqual({ where: { views: { eq: 1 } } });
    expect(await filters("")).toEqual({});
    expect(await problem("_page=1", filters)).toBe('Unknown parameter "_page".');
    expect(await problem("include=author", filters)).toMatch(/^Unknown parameter "include"/);
  });

  it("without filters accept no field names", async () => {
    const shape = await parserFor([], ["shape"]);
    expect((await shape("include=author&_=1")).include).toEqual({ author: {} });
    expect(await problem("title=x", shape)).toBe('Unknown parameter "title".');
    expect(await problem("includ=author", shape)).toBe('Unknown parameter "includ". Did you mean "include"?');
  });

  it("reveal nothing about entities of other apps", () => {
    const other = entity("other", { name: string }).build();
    const kernel = createFakeKernel()
      .withEntities(...library)
      .withDriver(memoryDriver());
    expect(() => createQueryParser(kernel.model).reads(["filter"])("name=x", other, kernel.scope())).toThrow(
      "Not found",
    );
  });
});

describe("repeated query strings", () => {
  const search = "views_gte=2&_sort=-title&select=title&_page=2";

  it("mean the same again, and each caller gets a copy of the query", async () => {
    const first = await parse(search);
    const second = await parse(search);
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    second.limit = 1;
    const third = await parse(search);
    expect(() => Object.assign((third.where as { views: object }).views, { gte: 0 })).toThrow(TypeError);
    expect(await parse(search)).toEqual(first);
  });

  it("are refused again with the same message", async () => {
    const words = await problem("nope=1");
    expect(await problem("nope=1")).toBe(words);
  });

  it("are parsed again for a caller with fewer rights", async () => {
    let sees = true;
    const without = (names: ReadonlySet<string>) => new Set([...names].filter((name) => name !== "title"));
    const kernel = createFakeKernel()
      .withEntities(...library)
      .withDriver(memoryDriver());
    await kernel.use(
      createPlugin({
        id: "test/sometimes",
        hooks: {
          "access:mask"(draft) {
            if (!sees) draft.mask = { ...draft.mask, filterable: without(draft.mask.filterable) };
          },
        },
      }),
    );
    const shared = createQueryParser(kernel.model).reads(EVERYTHING);
    const read = async () => shared("title=x", kernel.model.get("post") as AnyEntity, kernel.scope());
    for (sees of [true, true, false, true, false]) {
      if (sees) expect((await read()).where).toEqual({ title: { eq: "x" } });
      else await expect(read()).rejects.toThrow(/^Unknown parameter "title"/);
    }
  });

  it("are parsed again for another entity", async () => {
    expect((await parse("id=a")).where).toEqual((await parse("id=a", "user")).where);
    expect((await parse("name=a", "user")).where).toEqual({ name: { eq: "a" } });
    expect(await problem("name=a")).toMatch(/^Unknown/);
  });
});
