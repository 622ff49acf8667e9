import { describe, expectTypeOf, it } from "vitest";
import {
  bool,
  datetime,
  type email,
  entity,
  enums,
  type Field,
  float,
  type InferEntityData,
  int,
  json,
  jsonTyped,
  string,
  type text,
} from "../../src/entity/index.ts";

type ValueOf<F> = F extends Field<infer T, infer _> ? T : never;

describe("fields", () => {
  it("have the type of the specification", () => {
    expectTypeOf<ValueOf<typeof string>>().toEqualTypeOf<string>();
    expectTypeOf<ValueOf<typeof text>>().toEqualTypeOf<string>();
    expectTypeOf<ValueOf<typeof email>>().toEqualTypeOf<string>();
    expectTypeOf<ValueOf<typeof int>>().toEqualTypeOf<number>();
    expectTypeOf<ValueOf<typeof float>>().toEqualTypeOf<number>();
    expectTypeOf<ValueOf<typeof bool>>().toEqualTypeOf<boolean>();
    expectTypeOf<ValueOf<typeof datetime>>().toEqualTypeOf<Date>();
    expectTypeOf<ValueOf<typeof json>>().toEqualTypeOf<unknown>();
  });

  it("of enums are the union of their values", () => {
    const status = enums("draft", "done");
    expectTypeOf<ValueOf<typeof status>>().toEqualTypeOf<"draft" | "done">();
    status.default("draft");
    // @ts-expect-error not one of the words
    status.default("gone");
    // @ts-expect-error at least one word
    enums();
  });

  it("of typed JSON have the given type", () => {
    const meta = jsonTyped<{ a: number }>();
    expectTypeOf<ValueOf<typeof meta>>().toEqualTypeOf<{ a: number }>();
    meta.default({ a: 1 });
    // @ts-expect-error another shape
    meta.default({ a: "1" });
  });
});

describe("modifiers", () => {
  it("are those of the kind", () => {
    string.min(1).max(2).length(2).trim().lower().upper().email().url().regex(/a/).password();
    int.min(1).max(2).positive();
    // @ts-expect-error numbers only
    string.positive();
    // @ts-expect-error texts only
    int.trim();
    // @ts-expect-error texts only
    float.regex(/a/);
    // @ts-expect-error texts only
    int.length(3);
    // @ts-expect-error neither numbers nor texts
    bool.min(1);
    // @ts-expect-error neither numbers nor texts
    datetime.max(1);
    // @ts-expect-error texts only
    json.trim();
    // @ts-expect-error texts only
    enums("a").lower();
    // @ts-expect-error texts only
    int.password();
  });

  it("stay available after others", () => {
    string
      .optional()
      .unique()
      .default("a")
      .readable("owner")
      .writable("admin")
      .omit()
      .encrypted()
      .readonly()
      .describe("x")
      .example("a")
      .min(1)
      .password();
    int.optional().unique().default(1).readable(["owner", "admin"]).omit().readonly().example(1).positive();
    // @ts-expect-error still no text
    int.optional().default(1).trim();
    // @ts-expect-error still no number
    string.min(1).optional().positive();
  });

  it("accept values of the field's type", () => {
    string.default("a");
    string.default(() => "a");
    int.default(1).example(2);
    datetime.default(() => new Date());
    // @ts-expect-error a number is not a text
    string.default(1);
    // @ts-expect-error a function that makes a number makes no text
    string.default(() => 1);
    // @ts-expect-error a text is not a number
    int.default("1");
    // @ts-expect-error a text is not a boolean
    bool.default("true");
    // @ts-expect-error a text is not a date
    datetime.default("2024-01-01");
    // @ts-expect-error a text is not a number
    float.example("1");
    // @ts-expect-error null requires .optional()
    string.default(null);
  });

  it("pass the field's type to validators, which return true or false", () => {
    string.validate((value) => value.startsWith("a"), "must begin with a");
    int.validate((value) => value % 2 === 0, "must be even");
    datetime.validate((value) => value.getTime() > 0, "must be late");
    // @ts-expect-error texts have no getTime
    string.validate((value) => value.getTime() > 0, "x");
    // @ts-expect-error a truthy text is not true
    string.validate((value) => value, "x");
    // @ts-expect-error a promise is not true
    string.validate(async (value) => value === "a", "x");
    // @ts-expect-error the message is missing
    string.validate((value) => value === "a");
  });

  it("mean the same in any order", () => {
    const one = entity("x", { a: string.optional().default("a").omit().min(1), b: int.readonly().optional() });
    const other = entity("x", { a: string.min(1).omit().default("a").optional(), b: int.optional().readonly() });
    expectTypeOf<InferEntityData<typeof one>>().toEqualTypeOf<InferEntityData<typeof other>>();
  });
});
