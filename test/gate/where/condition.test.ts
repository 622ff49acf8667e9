import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ColumnDefinition, ResolvedRelation } from "../../../src/entity/index.ts";
import {
  ALWAYS,
  allOf,
  and,
  compare,
  compileWhere,
  isAlways,
  mapCondition,
  matches,
  NEVER,
  not,
  or,
  type Row,
  related,
  visitCondition,
  type Where,
} from "../../../src/gate/index.ts";
import { BadRequestError } from "../../../src/kernel/index.ts";
import { randomBlog, randomWhere } from "../../support/driver-contract/arbitraries.ts";
import { entityNamed } from "../../support/driver-contract/database.ts";
import { fixtureModel } from "../../support/entities.ts";
import { propertyOptions } from "../../support/properties.ts";

const post = entityNamed("post");
const compile = (where: Where | undefined) => compileWhere(fixtureModel, post, where);
const views = post.columns.views as ColumnDefinition;
const rating = post.columns.rating as ColumnDefinition;

describe("compiling a where", () => {
  it("resolves names to columns and relations", () => {
    expect(compile({ views: 3 })).toEqual(compare(views, "eq", 3));
    const author = fixtureModel.relation(post, "author") as ResolvedRelation;
    const { name } = entityNamed("user").columns;
    expect(compile({ author: { name: "ann" } })).toEqual(
      related(author, compare(name as ColumnDefinition, "eq", "ann")),
    );
    expect(compile({ author: null })).toEqual(not(related(author, ALWAYS)));
  });

  it("of nothing always holds", () => {
    expect(compile(undefined)).toBe(ALWAYS);
    expect(compile({})).toBe(ALWAYS);
  });

  it("requires all of several members, and of several operators", () => {
    const [gte, lt, absent] = [compare(views, "gte", 1), compare(views, "lt", 5), compare(rating, "eq", null)];
    expect(compile({ views: { gte: 1, lt: 5 } })).toEqual(and([gte, lt]));
    expect(compile({ views: { gte: 1 }, rating: null })).toEqual(and([gte, absent]));
    expect(compile({ NOT: { views: { gte: 1 }, rating: null } })).toEqual(or([not(gte), not(absent)]));
  });

  it("keeps negations only on comparisons and relations", () => {
    const three = compare(views, "eq", 3);
    const absent = compare(rating, "eq", null);
    expect(compile({ NOT: { views: 3 } })).toMatchObject({ op: "not", of: three });
    expect(compile({ views: { ne: 3 } })).toEqual(not(three));
    expect(compile({ NOT: { NOT: { NOT: { views: 3 } } } })).toEqual(not(three));
    expect(compile({ NOT: { views: { ne: 3 } } })).toEqual(three);
    expect(compile({ NOT: { OR: [{ views: 3 }, { rating: { null: false } }] } })).toEqual(and([not(three), absent]));
    expect(compile({ NOT: [{ views: 3 }, { rating: null }] })).toEqual(and([not(three), not(absent)]));
    expect(compile({ NOT: { NOT: [{ views: 3 }, { rating: null }] } })).toEqual(or([three, absent]));
    expect(compile({ NOT: { AND: [{ views: 3 }, { rating: null }] } })).toEqual(or([not(three), not(absent)]));
    expect(compile({ NOT: { editor: { NOT: { name: "ann" } } } })).toMatchObject({
      op: "not",
      of: { op: "related", matches: { op: "not" } },
    });
    expect(compile({ NOT: { editor: null } })).toMatchObject({ op: "related" });
  });

  it("moves null out of a list of values", () => {
    const [list, absent] = [compare(rating, "in", [1, 2]), compare(rating, "eq", null)];
    expect(compile({ rating: [1, 2] })).toEqual(list);
    expect(compile({ rating: { in: [1, null, 2] } })).toEqual(or([list, absent]));
    expect(compile({ rating: { nin: [1, null, 2] } })).toEqual(and([not(list), not(absent)]));
    expect(compile({ rating: [null] })).toEqual(absent);
    expect(compile({ rating: [] })).toBe(NEVER);
    expect(compile({ rating: { nin: [] } })).toBe(ALWAYS);
  });

  it("leaves compiled conditions unchanged, also inside a where", () => {
    const three = compare(views, "eq", 3);
    expect(compile(three)).toBe(three);
    expect(compile({ OR: [three, { NOT: three }] })).toEqual(or([three, not(three)]));
  });

  it("accepts no compiled condition from a caller, and no imitation of one", () => {
    const rights = { column: () => undefined, relation: () => undefined };
    const three = compare(views, "eq", 3);
    expect(() => compileWhere(fixtureModel, post, three, rights)).toThrow(BadRequestError);
    expect(() => compileWhere(fixtureModel, post, { AND: [three] }, rights)).toThrow(BadRequestError);
    expect(() => compile(JSON.parse(JSON.stringify(three)))).toThrow(BadRequestError);
  });

  it.each<[string, Where, RegExp]>([
    ["an undefined value", { views: undefined }, /"views" is undefined; leave it out, or use null/],
    ["an undefined relation", { author: undefined }, /"author" is undefined/],
    ["undefined logic", { OR: undefined }, /"OR" is undefined/],
    ["a hole in a list", { id: new Array(2) }, /cannot be compared/],
    ["a name that is no field", { nope: 1 }, /no field "nope"/],
    ["the foreign key of another entity", { postId: "p1" }, /no field "postId"/],
    ["null in an order", { views: { gt: null } }, /cannot be compared/],
    ["null that is no boolean", { views: { null: 1 } }, /takes true or false/],
    ["in without a list", { views: { in: 3 } }, /takes an array/],
    ["a pattern that is no text", { title: { like: 3 } }, /cannot be compared/],
    ["a pattern on a number", { views: { like: "3" } }, /does not take the operator "like"/],
    ["a relation compared with text", { author: "u1" }, /must be a plain object/],
    ["a list of relations", { comments: [{ text: "x" }] }, /must be a plain object/],
  ])("refuses %s, naming the entity", (_, where, message) => {
    expect(() => compile(where)).toThrow(BadRequestError);
    expect(() => compile(where)).toThrow(/^where on \w+: /);
    expect(() => compile(where)).toThrow(message);
  });

  it("accepts objects without a prototype", () => {
    expect(compile(Object.assign(Object.create(null), { views: 3 }))).toEqual(compile({ views: 3 }));
  });
});

describe("a walk over a condition", () => {
  const where = { OR: [{ views: 3 }, { NOT: { author: { name: "ann", posts: { rating: null } } } }] };

  it("visits every comparison and relation, together with the surrounding relation", () => {
    const met: string[] = [];
    visitCondition(compile(where), (leaf, inside) =>
      met.push(`${inside?.name ?? "-"}.${leaf.op === "compare" ? leaf.column.name : leaf.relation.name}`),
    );
    expect(met).toEqual(["-.views", "-.author", "author.name", "author.posts", "posts.rating"]);
  });

  it("skips the conditions of a relation if the visitor says so", () => {
    const met: string[] = [];
    visitCondition(compile(where), (leaf) => {
      met.push(leaf.op);
      return false;
    });
    expect(met).toEqual(["compare", "related"]);
  });

  it("replaces comparisons and relations, under negation too", () => {
    const condition = mapCondition(compile(where), (leaf, inside) =>
      leaf.op === "compare" && inside === undefined ? NEVER : leaf.op === "related" ? and([leaf, ALWAYS]) : leaf,
    );
    expect(condition).toMatchObject({
      op: "or",
      of: [{ op: "never" }, { op: "or", of: [{ op: "not", of: { op: "related" } }, { op: "never" }] }],
    });
  });
});

describe("isAlways", () => {
  const always = (where: Where): boolean => isAlways(compileWhere(fixtureModel, post, where));

  it.each<Where>([
    {},
    { AND: [] },
    { AND: [{}, {}] },
    { OR: [{ views: 1 }, {}] },
    { NOT: { OR: [] } },
    { id: { nin: [] } },
    { NOT: { id: [] } },
    { NOT: [] },
  ])("is true for %j", (where) => expect(always(where)).toBe(true));

  it.each<Where>([
    { views: 1 },
    { OR: [] },
    { NOT: {} },
    { id: [] },
    { AND: [{}, { views: 1 }] },
    { NOT: { views: 1 } },
    { author: {} },
    { id: { null: false } },
  ])("is false for %j", (where) => expect(always(where)).toBe(false));
});

describe("allOf", () => {
  it("joins the conditions that are present", () => {
    expect(allOf({ views: 1 }, undefined)).toEqual({ views: 1 });
    expect(allOf({ views: 1 }, { views: 2 })).toEqual({ AND: [{ views: 1 }, { views: 2 }] });
    expect(isAlways(compileWhere(fixtureModel, post, allOf(undefined)))).toBe(true);
  });
});

describe("matching in memory", () => {
  const none = (): Row[] => [];

  it("holds for either a condition or its negation, never for both", () => {
    fc.assert(
      fc.property(randomBlog, randomWhere("post"), ({ rows }, where) => {
        const related = ({ type, target, foreignKey }: ResolvedRelation, row: Row): readonly Row[] => {
          const key = foreignKey as string;
          return (rows[target.name] ?? []).filter((other) =>
            type === "belongsTo" ? other.id === row[key] : other[key] === row.id,
          );
        };
        const plain = compileWhere(fixtureModel, post, where);
        const negated = compileWhere(fixtureModel, post, { NOT: where });
        for (const row of rows.post ?? []) expect(matches(plain, row, related)).toBe(!matches(negated, row, related));
      }),
      propertyOptions(500),
    );
  });

  it("recognises a condition that always holds", () => {
    fc.assert(
      fc.property(randomBlog, randomWhere("post"), ({ rows }, where) => {
        const condition = compileWhere(fixtureModel, post, where);
        if (isAlways(condition)) for (const row of rows.post ?? []) expect(matches(condition, row, none)).toBe(true);
      }),
      propertyOptions(500),
    );
  });

  it("compares text by code point, as databases do", () => {
    const where = (title: string): boolean =>
      matches(compileWhere(fixtureModel, post, { title: { gt: "\ufffd" } }), { title }, none);
    expect(where("😀")).toBe(true);
    expect(where("\ufffc")).toBe(false);
    expect(where("\ufffda")).toBe(true);
  });

  it("treats a missing column as null", () => {
    expect(matches(compileWhere(fixtureModel, post, { rating: null }), {}, none)).toBe(true);
    expect(matches(compileWhere(fixtureModel, post, { rating: { ne: 1 } }), {}, none)).toBe(true);
    expect(matches(compileWhere(fixtureModel, post, { rating: { lt: 1 } }), {}, none)).toBe(false);
  });
});
