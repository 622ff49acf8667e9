import { describe, expect, it } from "vitest";
import { entity } from "../../../src/entity/index.ts";
import {
  camelCase,
  capitalize,
  didYouMean,
  isValidEntityName,
  isValidIdentifier,
  kebabCase,
  nearest,
  pascalCase,
  pluralize,
  routeSegment,
  singularize,
  snakeCase,
} from "../../../src/kernel/index.ts";

describe("case conversions", () => {
  it("split on case, spaces and acronyms", () => {
    expect(capitalize("order item")).toBe("Order item");
    expect(pascalCase("order item")).toBe("OrderItem");
    expect(camelCase("Order-item")).toBe("orderItem");
    expect(kebabCase("orderItem")).toBe("order-item");
    expect(snakeCase("XMLHttpRequest")).toBe("xml_http_request");
  });

  it("convert text that is not a name too, of any length", () => {
    for (const text of ["aA", "Aa", "a ", "1a", "-", "é-"].map((part) => part.repeat(100_000)))
      for (const convert of [capitalize, pascalCase, camelCase, kebabCase, snakeCase])
        expect(convert(text).length).toBeLessThanOrEqual(2 * text.length);
  });
});

describe("name checks", () => {
  it.each([
    ["a", true],
    ["_a1$", true],
    ["1a", false],
    ["a-b", false],
    ["", false],
  ])("isValidIdentifier(%j) is %j", (text, expected) => {
    expect(isValidIdentifier(text)).toBe(expected);
  });
  it.each([
    ["orderItem", true],
    ["order_item", true],
    ["_x", false],
    ["a__b", false],
    ["1a", false],
    ["", false],
  ])("isValidEntityName(%j) is %j", (text, expected) => {
    expect(isValidEntityName(text)).toBe(expected);
  });
});

describe("pluralize and singularize", () => {
  it.each([
    ["post", "posts"],
    ["category", "categories"],
    ["person", "people"],
    ["schema", "schemas"],
    ["API", "APIs"],
    ["metadata", "metadata"],
    ["criteria", "criteria"],
    ["news", "news"],
  ])("%j and %j are one noun", (one, many) => {
    expect(pluralize(one)).toBe(many);
    expect(singularize(many)).toBe(one);
  });

  it("leave an overlong name unchanged", () => {
    const long = "a".repeat(1_000_000);
    expect(pluralize(long)).toBe(long);
    expect(singularize(long)).toBe(long);
  });

  it("make the path segment of an entity", () => {
    expect(routeSegment(entity("orderItem", {}).build())).toBe("order-items");
    expect(routeSegment(entity("staff", {}).plural("staffMembers").build())).toBe("staff-members");
  });
});

describe("didYouMean", () => {
  it("finds the nearest candidate, swaps and case included", () => {
    expect(nearest("titel", ["title", "body"])).toBe("title");
    expect(nearest("Views", ["views"])).toBe("views");
    expect(didYouMean("imdbRatng", ["imdbRating"])).toBe(' Did you mean "imdbRating"?');
  });
  it("returns nothing if no candidate is near, and skips overlong names", () => {
    expect(didYouMean("zzz", ["title"])).toBe("");
    expect(nearest("t".repeat(65), ["title"])).toBeUndefined();
  });
});
