import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResolvedRelation } from "../../../src/entity/index.ts";
import {
  ALWAYS,
  allOf,
  BadRequestError,
  compileWhere,
  isAlways,
  matches,
  NEVER,
  type Row,
  type Where,
} from "../../../src/kernel/index.ts";
import { randomBlog, randomWhere } from "../../support/driver-contract/arbitraries.ts";
import { entityNamed } from "../../support/driver-contract/database.ts";
import { fixtureModel } from "../../support/entities.ts";
import { propertyOptions } from "../../support/properties.ts";

const post = entityNamed("post");
const compile = (where: Where | undefined): unknown => compileWhere(fixtureModel, post, where);
const views = post.columns.views;
const rating = post.columns.rating;

describe("compiling a where", () => {
  it("resolves names to columns and relations", () => {
    expect(compile({ views: 3 })).toEqual({ kind: "compare", column: views, operator: "eq", value: 3, negated: false });
    const author = fixtureModel.relation(post, "author");
    const name = entityNamed("user").columns.name;
    expect(compile({ author: { name: "ann" } })).toEqual({
      kind: "related",
      relation: author,
      quantifier: "some",
      where: { kind: "compare", column: name, operator: "eq", value: "ann", negated: false },
    });
    expect(compile({ author: null })).toEqual({ kind: "related", relation: author, quantifier: "none", where: ALWAYS });
  });

  it("of nothing always holds", () => {
    expect(compile(undefined)).toBe(ALWAYS);
    expect(compile({})).toEqual(ALWAYS);
  });

  it("reads several members, and several operators, as all of them", () => {
    const gte = { kind: "compare", column: views, operator: "gte", value: 1, negated: false };
    const lt = { kind: "compare", column: views, operator: "lt", value: 5, negated: false };
    const absent = { kind: "null", column: rating, negated: false };
    expect(compile({ views: { gte: 1, lt: 5 } })).toEqual({ kind: "and", parts: [gte, lt] });
    expect(compile({ views: { gte: 1 }, rating: null })).toEqual({ kind: "and", parts: [gte, absent] });
    expect(compile({ NOT: { views: { gte: 1 }, rating: null } })).toEqual({
      kind: "or",
      parts: [
        { ...gte, negated: true },
        { ...absent, negated: true },
      ],
    });
  });

  it("leaves no negation but at the leaves", () => {
    const compare = { kind: "compare", column: views, operator: "eq", value: 3, negated: true };
    expect(compile({ NOT: { views: 3 } })).toEqual(compare);
    expect(compile({ views: { ne: 3 } })).toEqual(compare);
    expect(compile({ NOT: { NOT: { NOT: { views: 3 } } } })).toEqual(compare);
    expect(compile({ NOT: { views: { ne: 3 } } })).toEqual({ ...compare, negated: false });
    expect(compile({ NOT: { OR: [{ views: 3 }, { rating: { null: false } }] } })).toEqual({
      kind: "and",
      parts: [compare, { kind: "null", column: rating, negated: false }],
    });
    expect(compile({ NOT: [{ views: 3 }, { rating: null }] })).toMatchObject({ kind: "and" });
    expect(compile({ NOT: { NOT: [{ views: 3 }, { rating: null }] } })).toMatchObject({ kind: "or" });
    expect(compile({ NOT: { AND: [{ views: 3 }, { rating: null }] } })).toMatchObject({ kind: "or" });
    const nobody = compile({ NOT: { editor: { NOT: { name: "ann" } } } });
    expect(nobody).toMatchObject({ kind: "related", quantifier: "none", where: { negated: true } });
    expect(compile({ NOT: { editor: null } })).toMatchObject({ kind: "related", quantifier: "some" });
  });

  it("takes null out of a list of values", () => {
    const list = { kind: "compare", column: rating, operator: "in", value: [1, 2], negated: false };
    const absent = { kind: "null", column: rating, negated: false };
    expect(compile({ rating: [1, 2] })).toEqual(list);
    expect(compile({ rating: { in: [1, null, 2] } })).toEqual({ kind: "or", parts: [list, absent] });
    expect(compile({ rating: { nin: [1, null, 2] } })).toEqual({
      kind: "and",
      parts: [
        { ...list, negated: true },
        { ...absent, negated: true },
      ],
    });
    expect(compile({ rating: [null] })).toEqual(absent);
    expect(compile({ rating: [] })).toEqual(NEVER);
    expect(compile({ rating: { nin: [] } })).toEqual(ALWAYS);
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

  it("takes objects without a prototype", () => {
    expect(compile(Object.assign(Object.create(null), { views: 3 }))).toEqual(compile({ views: 3 }));
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
  it("joins what is present", () => {
    expect(allOf({ views: 1 }, undefined)).toEqual({ views: 1 });
    expect(allOf({ views: 1 }, { views: 2 })).toEqual({ AND: [{ views: 1 }, { views: 2 }] });
    expect(isAlways(compileWhere(fixtureModel, post, allOf(undefined)))).toBe(true);
  });
});

describe("matching in memory", () => {
  const none = (): Row[] => [];

  it("holds for one of a condition and its negation, never for both", () => {
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

  it("says of a condition that always holds that it holds", () => {
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

  it("treats a column that is not there as null", () => {
    expect(matches(compileWhere(fixtureModel, post, { rating: null }), {}, none)).toBe(true);
    expect(matches(compileWhere(fixtureModel, post, { rating: { ne: 1 } }), {}, none)).toBe(true);
    expect(matches(compileWhere(fixtureModel, post, { rating: { lt: 1 } }), {}, none)).toBe(false);
  });
});
