import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ListQuery, serializeListQuery } from "../../../src/client/index.ts";
import type { ListWhere } from "../../../src/client/serialize-list-query.ts";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import type { AnyEntity } from "../../../src/entity/index.ts";
import type { OperationQuery } from "../../../src/gate/index.ts";
import { DEFAULT_LIMITS } from "../../../src/kernel/index.ts";
import { createQueryParser } from "../../../src/plugins/query/parse-query.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { propertyOptions } from "../../support/properties.ts";
import { library } from "../crud/library.ts";

const kernel = createFakeKernel()
  .withEntities(...library)
  .withDriver(memoryDriver());
const parser = createQueryParser(kernel.model).reads(["filter", "sort", "page", "shape"]);
const scope = kernel.scope();

async function parse(search: string): Promise<OperationQuery> {
  return parser(search, kernel.model.get("post") as AnyEntity, scope);
}

/** Normalises a parsed condition: sorted parts, and one-value lists as equality, so that equal queries compare equal. */
function canonical(where: unknown): string[] {
  const parts = (where as { AND?: unknown[] } | undefined)?.AND ?? (where === undefined ? [] : [where]);
  return parts
    .flatMap((part) =>
      Object.entries(part as object).flatMap(([name, condition]) => {
        if (name === "author") return canonical(condition).map((inner) => `author.${inner}`);
        return Object.entries(condition as object).map(([operator, operand]) => {
          const one = operator === "in" && Array.isArray(operand) && operand.length === 1;
          return JSON.stringify([name, one ? "eq" : operator, one ? operand[0] : operand]);
        });
      }),
    )
    .sort();
}

/** The same for the typed form, with shorthands expanded. */
function expected(where: ListWhere, prefix = ""): string[] {
  return Object.entries(where)
    .flatMap(([name, condition]) => {
      if (name === "author") return expected(condition as ListWhere, "author.");
      const say = (operator: string, operand: unknown): string =>
        `${prefix}${JSON.stringify([name, operator, operand])}`;
      if (Array.isArray(condition)) return [condition.length === 1 ? say("eq", condition[0]) : say("in", condition)];
      if (condition === null) return [say("null", true)];
      if (typeof condition !== "object" || condition instanceof Date) return [say("eq", condition)];
      return Object.entries(condition).map(([operator, operand]) => {
        if (operand === null) return say("null", operator === "eq");
        if (operator === "in" && Array.isArray(operand) && operand.length === 1) return say("eq", operand[0]);
        // [""] is sent as two empty texts, which mean the same.
        if (Array.isArray(operand) && operand.length === 1 && operand[0] === "") return say(operator, ["", ""]);
        return say(operator, operand);
      });
    })
    .sort();
}

const word = fc
  .string({ unit: "binary", maxLength: 12 })
  .filter((text) => text.isWellFormed() && !text.includes("\u0000"));
const whole = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 });
const real = fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n));
const moment = fc.date({
  min: new Date("0001-01-01T00:00:00Z"),
  max: new Date("9999-12-31T23:59:59Z"),
  noInvalidDate: true,
});

function ordered(value: fc.Arbitrary<string | number | Date>) {
  const list = fc.array(value, { maxLength: 4 });
  return fc.oneof(
    value,
    fc.constant(null),
    list,
    fc.record({ eq: fc.oneof(value, fc.constant(null)) }),
    fc.record({ ne: fc.oneof(value, fc.constant(null)) }),
    fc.record(
      { gt: value, gte: value, lt: value, lte: value, nin: list, null: fc.boolean() },
      { requiredKeys: ["gt"] },
    ),
    fc.record({ in: list }).filter(({ in: values }) => !(values.length === 1 && values[0] === "")),
  );
}

const textual = fc.oneof(
  ordered(word),
  fc.record({ like: word, starts: word, ends: word }, { requiredKeys: ["starts"] }),
);
const where = fc.record(
  {
    secret: textual,
    body: textual,
    views: ordered(whole),
    score: ordered(real),
    publishedAt: ordered(moment),
    published: fc.boolean(),
    status: fc.constantFrom("draft", "live"),
    author: fc.record({ name: textual, id: ordered(word) }, { requiredKeys: ["name"] }),
  },
  { requiredKeys: [] },
);
const shape = fc.record(
  {
    where: where as fc.Arbitrary<ListWhere>,
    q: word.filter((text) => text !== ""),
    sort: fc.constantFrom(["-createdAt", "title"], ["views"]),
    limit: fc.integer({ min: 1, max: 1_000 }),
    include: fc.constantFrom(["author"], ["author", "comments.author"]),
    select: fc.constantFrom(["id", "title"], ["views"]),
    total: fc.boolean(),
  },
  { requiredKeys: [] },
);
const place = fc.oneof(
  fc.constant({}),
  fc.record({ page: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ offset: fc.integer({ min: 0, max: 50_000 }) }),
  fc.record({ after: word.filter((text) => text !== "") }),
);

describe("serializeListQuery", () => {
  it("writes a query string that the API parses to the same query", async () => {
    await fc.assert(
      fc.asyncProperty(shape, place, async (rest, position) => {
        const query: ListQuery = { ...rest, ...position };
        // More conditions than the limit are refused; another test covers that rule.
        fc.pre(expected(query.where ?? {}).length < DEFAULT_LIMITS.conditions);
        const read = await parse(serializeListQuery(query));
        const search = query.q === undefined ? [] : [JSON.stringify(["q", query.q])];
        const found = read.search === undefined ? [] : [JSON.stringify(["q", read.search])];
        expect([...canonical(read.where), ...found].sort()).toEqual([...expected(query.where ?? {}), ...search].sort());
        expect(read.sort?.map(({ field, direction }) => (direction === "desc" ? `-${field}` : field))).toEqual(
          query.sort,
        );
        const limit = query.limit ?? 100;
        expect([read.limit, read.after, read.total]).toEqual([limit, query.after, query.total ?? true]);
        expect(read.offset ?? 0).toBe(query.offset ?? ((query.page ?? 1) - 1) * limit);
        expect(read.include).toEqual(
          {
            undefined: undefined,
            author: { author: {} },
            "author,comments.author": { author: {}, comments: { author: {} } },
          }[String(query.include)],
        );
        expect(read.select).toEqual(query.select);
      }),
      propertyOptions(500),
    );
  });

  it("produces the query strings in the documentation", () => {
    const query: ListQuery = {
      where: { views: { gte: 10 }, title: { like: "node" }, authorId: ["1", "2"], author: { name: { like: "ann" } } },
      sort: ["-createdAt", "title"],
      page: 2,
      limit: 20,
      include: ["author", "comments.author"],
      select: ["id", "title"],
    };
    expect(decodeURIComponent(serializeListQuery(query))).toBe(
      "views_gte=10&title_like=node&authorId=1&authorId=2&author.name_like=ann&_sort=-createdAt,title&_page=2&_limit=20&include=author,comments.author&select=id,title",
    );
    expect(serializeListQuery({})).toBe("");
  });

  it("treats an object nested under an operator's name as a relation", () => {
    expect(serializeListQuery({ where: { author: { like: { eq: "x" } } } })).toBe("author.like=x");
    expect(serializeListQuery({ where: { author: { like: "x" } } })).toBe("author_like=x");
  });

  it.each<readonly [string, ListWhere]>([
    ["null in a list", { views: [1, null] }],
    ["an empty condition", { comments: {} }],
    ["two relations deep", { comments: { author: { name: "x" } } }],
    ["how many must match", { comments: { none: { text: "x" } } }],
    ["logic", { or: [{ title: "x" }, { not: { views: 3 } }] }],
  ])("sends %s as JSON, with all conditions around it", (_what, where) => {
    const all = { ...where, published: true };
    const search = serializeListQuery({ where: all });
    expect(new URLSearchParams(search).get("_where")).toBe(JSON.stringify(all));
  });

  it("writes datetimes and large integers in JSON as text", () => {
    const where = { or: [{ publishedAt: new Date(0) }, { views: 2n }] };
    expect(serializeListQuery({ where })).toContain(
      encodeURIComponent('{"publishedAt":"1970-01-01T00:00:00.000Z"},{"views":"2"}'),
    );
  });

  it.each([
    ["undefined", { title: undefined }],
    ["undefined under an operator", { title: { eq: undefined } }],
    ["NaN", { views: Number.NaN }],
    ["an infinite number", { views: { gt: Number.POSITIVE_INFINITY } }],
    ["an invalid date", { publishedAt: new Date("never") }],
    ["a function", { title: () => "x" }],
    ["null under an operator that has no null", { views: { gt: null } }],
  ])("refuses %s instead of widening the query", (_what, wrong) => {
    expect(() => serializeListQuery({ where: wrong as unknown as ListWhere })).toThrow(TypeError);
  });
});
