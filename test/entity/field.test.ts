import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AnyField,
  bool,
  boolean,
  datetime,
  email,
  enums,
  float,
  int,
  json,
  jsonTyped,
  string,
  text,
} from "../../src/entity/index.ts";
import { changeable } from "../support/frozen.ts";
import { propertyOptions } from "../support/properties.ts";

const FIELDS = {
  string,
  text,
  email,
  int,
  float,
  bool,
  boolean,
  datetime,
  json,
  jsonTyped: jsonTyped<{ a: 1 }>(),
  enums: enums("a", "b"),
};

const isEven = (value: unknown): boolean => Number(value) % 2 === 0;
const make = (): never => "made" as never;
type Chain = Record<string, (...args: readonly unknown[]) => Chain>;
type Modifier = readonly [name: string, ...args: unknown[]];

const COMMON: readonly Modifier[] = [
  ["optional"],
  ["unique"],
  ["default", make],
  ["validate", isEven, "must be even"],
  ["readable", "admin", { name: "owner" }],
  ["writable", ["admin", { name: "owner" }]],
  ["omit"],
  ["encrypted", { searchable: true }],
  ["readonly"],
  ["describe", "a sentence"],
  ["example", "a value"],
];
const NUMBER: readonly Modifier[] = [["min", 1, "at least"], ["max", 9], ["positive"]];
const STRING: readonly Modifier[] = [
  ["min", 1],
  ["max", 9, "at most"],
  ["length", 5, "exactly"],
  ["trim"],
  ["lower"],
  ["upper"],
  ["email"],
  ["url"],
  ["regex", /^a/, "an a"],
  ["password", { cost: 12 }],
];

const apply = (field: AnyField, modifiers: readonly Modifier[]): AnyField =>
  modifiers.reduce(
    (chain, [name, ...args]) => (chain as unknown as Chain)[name]?.(...args) as unknown as AnyField,
    field,
  );

describe("field constructors", () => {
  it.each(Object.entries(FIELDS))("%s returns a required field without settings", (_, field) => {
    const { kind, ...rest } = field.definition;
    expect(typeof kind.name).toBe("string");
    expect(rest).toEqual({
      optional: false,
      unique: false,
      positive: false,
      changes: [],
      formats: [],
      patterns: [],
      validators: [],
      readonly: false,
      omit: false,
    });
  });

  it("have the scalar and the native type of the specification", () => {
    const columns = Object.fromEntries(
      Object.entries(FIELDS).map(([name, { definition }]) => {
        const { scalar, native } = definition.kind.column;
        return [name, `${scalar} ${native?.postgresql ?? "-"}`];
      }),
    );
    expect(columns).toEqual({
      string: "String VarChar(255)",
      text: "String Text",
      email: "String VarChar(255)",
      int: "Int -",
      float: "Float -",
      bool: "Boolean -",
      boolean: "Boolean -",
      datetime: "DateTime -",
      json: "Json -",
      jsonTyped: "Json -",
      enums: "String VarChar(255)",
    });
  });

  it("define the operators of their conditions", () => {
    const operators = Object.fromEntries(
      Object.entries(FIELDS).map(([name, { definition }]) => [name, [...definition.kind.operators].join(" ")]),
    );
    const equality = "eq ne in nin null";
    const order = `${equality} gt gte lt lte`;
    const words = `${order} like starts ends`;
    expect(operators).toEqual({
      string: words,
      text: words,
      email: words,
      int: order,
      float: order,
      bool: equality,
      boolean: equality,
      datetime: order,
      json: "null",
      jsonTyped: "null",
      enums: words,
    });
  });

  it("have boolean and bool as the same type", () => {
    expect(boolean).toBe(bool);
  });
});

describe("modifiers", () => {
  it("return a new field and leave the old one unchanged", () => {
    const before = string.definition;
    const named = string.min(3).trim();
    expect(named).not.toBe(string);
    expect(string.definition).toBe(before);
    expect(before.changes).toEqual([]);
    expect(named.definition).toMatchObject({ changes: ["trim"], min: { value: 3 } });
  });

  it("record their arguments", () => {
    const all = apply(string, [...COMMON, ...STRING]).definition;
    expect(all).toEqual({
      kind: string.definition.kind,
      optional: true,
      unique: true,
      default: { make },
      min: { value: 1, message: undefined },
      max: { value: 9, message: "at most" },
      length: { value: 5, message: "exactly" },
      positive: false,
      changes: ["lower", "trim", "upper"],
      formats: ["email", "url"],
      patterns: [{ regex: /^a/, message: "an a" }],
      validators: [{ test: isEven, message: "must be even" }],
      readonly: true,
      readable: ["admin", "owner"],
      writable: ["admin", "owner"],
      ruleObjects: { readable: [], writable: [] },
      omit: true,
      password: { cost: 12 },
      encrypted: { searchable: true },
      description: "a sentence",
      example: "a value",
    });
    expect(string.default("literal").definition.default).toEqual({ value: "literal" });
    expect(string.password().definition.password).toEqual({ cost: 10 });
    expect(string.encrypted().definition.encrypted).toEqual({ searchable: false });
  });

  it.each<[string, AnyField, readonly Modifier[]]>([
    ["string", string, [...COMMON, ...STRING]],
    ["text", text, [...COMMON, ...STRING]],
    ["email", email, [...COMMON, ...STRING]],
    ["int", int, [...COMMON, ...NUMBER]],
    ["float", float, [...COMMON, ...NUMBER]],
    ["bool", bool, COMMON],
    ["datetime", datetime, COMMON],
    ["json", json, COMMON],
    ["enums", FIELDS.enums, COMMON],
  ])("of %s mean the same in any order", (_, field, modifiers) => {
    const twoOrders = fc
      .subarray([...modifiers], { minLength: 2 })
      .chain((chosen) => fc.tuple(fc.constant(chosen), fc.shuffledSubarray(chosen, { minLength: chosen.length })));
    fc.assert(
      fc.property(twoOrders, ([one, other]) => {
        expect(apply(field, other).definition).toEqual(apply(field, one).definition);
      }),
      propertyOptions(200),
    );
  });

  it("keep every validator and pattern, in order", () => {
    const isOdd = (): boolean => true;
    const { validators, patterns } = string
      .validate(isEven, "even")
      .regex(/a/)
      .validate(isOdd, "odd")
      .regex(/b/, "b").definition;
    expect(validators.map(({ message }) => message)).toEqual(["even", "odd"]);
    expect(patterns.map(({ regex }) => regex.source)).toEqual(["a", "b"]);
  });

  it("return frozen objects", () => {
    for (const field of [
      ...Object.values(FIELDS),
      apply(string, [...COMMON, ...STRING]),
      apply(int, [...COMMON, ...NUMBER]),
    ]) {
      expect(Object.isFrozen(field)).toBe(true);
      expect(changeable(field.definition)).toEqual([]);
    }
  });
});
