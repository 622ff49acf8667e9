import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AnyField,
  bool,
  datetime,
  email,
  enums,
  float,
  int,
  isJsonValue,
  json,
  string,
  text,
} from "../../src/entity/index.ts";

const status = enums("draft", "done");

/** The result of a schema for an input: the value, or the message. */
function checked(field: AnyField, input: unknown): unknown {
  const { kind } = field.definition;
  const result = kind.schema(field.definition).safeParse(input);
  return result.success ? result.data : `✗ ${result.error.issues[0]?.message}`;
}

function read(field: AnyField, input: string): unknown {
  const result = field.definition.kind.parse(input);
  return result.ok ? result.value : `✗ ${result.message}`;
}

const accepts = (field: AnyField, value: unknown): boolean => field.definition.kind.accepts(value);
const moment = (iso: string): Date => new Date(iso);

const NO_INT = "✗ must be a whole number between -2147483648 and 2147483647";
const NO_FLOAT = "✗ must be a finite number";
const NO_DATE = "✗ must be an ISO 8601 date (2024-05-31) or date-time with a zone (2024-05-31T12:00:00Z)";
const NO_BOOL = "✗ must be true or false";
const NO_TEXT = "✗ must be well-formed text without NUL characters";

describe("int", () => {
  it.each<[string, unknown]>([
    ["0", 0],
    ["7", 7],
    ["-7", -7],
    ["2147483647", 2_147_483_647],
    ["-2147483648", -2_147_483_648],
    ...[
      "2147483648",
      "-2147483649",
      "1e3",
      "1.0",
      "1.5",
      "007",
      "+7",
      " 7",
      "7 ",
      "0x7",
      "1_000",
      "٧",
      "７",
      "",
      "-",
      "NaN",
      "Infinity",
      "9007199254740993",
      "true",
    ].map((input): [string, unknown] => [input, NO_INT]),
  ])("reads %j as %j", (input, expected) => expect(read(int, input)).toEqual(expected));

  it.each<[unknown, unknown]>([
    [7, 7],
    [2_147_483_647, 2_147_483_647],
    [-2_147_483_648, -2_147_483_648],
    ...[2 ** 31, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "7", true, null, undefined, [7], { set: 7 }, 7n].map(
      (input): [unknown, unknown] => [input, NO_INT],
    ),
  ])("accepts %o as %o", (input, expected) => {
    expect(checked(int, input)).toEqual(expected);
    expect(accepts(int, input)).toBe(expected !== NO_INT);
  });

  it("keeps its bounds, with their messages", () => {
    expect(checked(int.min(3), 2)).toBe("✗ must be at least 3");
    expect(checked(int.min(3, "three or more"), 2)).toBe("✗ three or more");
    expect(checked(int.max(3), 4)).toBe("✗ must be at most 3");
    expect(checked(int.positive(), 0)).toBe("✗ must be greater than 0");
    expect(checked(int.min(3).max(3), 3)).toBe(3);
  });
});

describe("float", () => {
  it.each<[string, unknown]>([
    ["0", 0],
    ["1.5", 1.5],
    ["-1.5e3", -1500],
    ["1E-2", 0.01],
    ["1e-400", 0],
    ["0.30000000000000004", 0.1 + 0.2],
    ["12345678901234567", 12345678901234568],
    ...[
      "1e999",
      "-1e999",
      "1e1000",
      "Infinity",
      "NaN",
      "007",
      "01.5",
      ".5",
      "5.",
      "+1",
      "1,5",
      " 1",
      "0x1",
      "1e",
      "",
      "--1",
      "1_0",
      "１",
    ].map((input): [string, unknown] => [input, NO_FLOAT]),
  ])("reads %j as %j", (input, expected) => expect(read(float, input)).toEqual(expected));

  it.each<[unknown, unknown]>([
    [1.5, 1.5],
    [Number.MAX_VALUE, Number.MAX_VALUE],
    [Number.MIN_VALUE, Number.MIN_VALUE],
    ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, "1.5", null, undefined, true, 1n].map(
      (input): [unknown, unknown] => [input, NO_FLOAT],
    ),
  ])("accepts %o as %o", (input, expected) => {
    expect(checked(float, input)).toEqual(expected);
    expect(accepts(float, input)).toBe(expected !== NO_FLOAT);
  });

  it("shows minus zero as zero", () => {
    expect(JSON.stringify([checked(float, -0), checked(int, -0), read(float, "-0"), read(int, "-0")])).toBe(
      "[0,0,0,0]",
    );
  });
});

describe("bool", () => {
  it.each<[string, unknown]>([
    ["true", true],
    ["false", false],
    ...["TRUE", "True", "1", "0", "yes", "no", "on", "off", "t", "", " true", "null"].map(
      (input): [string, unknown] => [input, NO_BOOL],
    ),
  ])("reads %j as %j", (input, expected) => expect(read(bool, input)).toEqual(expected));

  it.each<[unknown, unknown]>([
    [true, true],
    [false, false],
    ...["true", "false", 1, 0, null, undefined, [], {}, "yes"].map((input): [unknown, unknown] => [input, NO_BOOL]),
  ])("accepts %o as %o", (input, expected) => {
    expect(checked(bool, input)).toEqual(expected);
    expect(accepts(bool, input)).toBe(expected !== NO_BOOL);
  });

  it("names its values in order", () => {
    const { values, compare } = bool.definition.kind;
    expect(values).toEqual([false, true]);
    expect([...(values ?? [])].sort(compare)).toEqual(values);
  });
});

describe("datetime", () => {
  const READABLE: [string, string][] = [
    ["2024-05-31", "2024-05-31T00:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["2024-05-31T12:00:00Z", "2024-05-31T12:00:00.000Z"],
    ["2024-05-31T12:00:00.5Z", "2024-05-31T12:00:00.500Z"],
    ["2024-05-31T12:00:00.123456Z", "2024-05-31T12:00:00.123Z"],
    ["2024-05-31T12:00:00+02:00", "2024-05-31T10:00:00.000Z"],
    ["2024-05-31T12:00:00-05:30", "2024-05-31T17:30:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ];
  const REFUSED = [
    "2024-02-30",
    "2023-02-29",
    "2024-13-01",
    "2024-00-10",
    "2024-01-00",
    "2024-02-30T00:00:00Z",
    "2024-05-31T24:00:00Z",
    "2024-05-31T12:60:00Z",
    "2024-05-31T12:00:60Z",
    "2024-05-31T12:00:00",
    "2024-05-31T12:00Z",
    "2024-05-31 12:00:00Z",
    "2024-05-31t12:00:00z",
    "2024-05-31T12:00:00+0200",
    "2024-05-31T12:00:00+99:99",
    "2024-5-31",
    "31.05.2024",
    "05/31/2024",
    " 2024-05-31",
    "2024-05-31Z",
    "20240531",
    "yesterday",
    "now",
    "0",
    "1717156800000",
    "",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+10:00",
    "9999-12-31T23:59:59-10:00",
    "+275760-09-13T00:00:00Z",
    "-000001-01-01T00:00:00Z",
  ];

  it.each(READABLE)("reads %j as %s", (input, expected) => {
    expect(read(datetime, input)).toEqual(moment(expected));
    expect(checked(datetime, input)).toEqual(moment(expected));
  });

  it.each(REFUSED)("refuses %j", (input) => {
    expect(read(datetime, input)).toBe(NO_DATE);
    expect(checked(datetime, input)).toBe(NO_DATE);
  });

  it.each([0, 1_717_156_800_000, true, null, undefined, {}, [], moment("nonsense")])("refuses %o", (input) => {
    expect(checked(datetime, input)).toBe(NO_DATE);
    expect(accepts(datetime, input)).toBe(false);
  });

  it("accepts dates of the years 1 to 9999, from code too", () => {
    const first = moment("0001-01-01T00:00:00.000Z");
    const last = moment("9999-12-31T23:59:59.999Z");
    for (const date of [first, last]) {
      expect(checked(datetime, date)).toEqual(date);
      expect(accepts(datetime, date)).toBe(true);
      expect(read(datetime, datetime.definition.kind.toWire?.(date) as string)).toEqual(date);
    }
    for (const date of [new Date(first.getTime() - 1), new Date(last.getTime() + 1), new Date(8.64e15)]) {
      expect(checked(datetime, date)).toBe(NO_DATE);
      expect(accepts(datetime, date)).toBe(false);
    }
  });
});

describe("string, text and email", () => {
  it.each(["", " ", "a", "日本語", "👩‍👩‍👧", "e\u0301", "'; --", "%_\\", "null", "007"])(
    "keep %j unchanged",
    (input) => {
      for (const field of [string, text]) {
        expect(read(field, input)).toBe(input);
        expect(checked(field, input)).toBe(input);
        expect(accepts(field, input)).toBe(true);
      }
    },
  );

  it.each([
    ["a lone high surrogate", "a\ud83d"],
    ["a lone low surrogate", "\ude00a"],
    ["surrogates the wrong way round", "\ude00\ud83d"],
    ["a NUL", "a\u0000b"],
  ])("refuse %s", (_, input) => {
    for (const field of [string, text, email]) {
      expect(read(field, input)).toBe("✗ must be well-formed text");
      expect(accepts(field, input)).toBe(false);
      expect(checked(field, input)).toBe(NO_TEXT);
    }
  });

  it.each([1, true, null, undefined, {}, [], ["a"], new Date()])("refuse %o", (input) => {
    for (const field of [string, text, email]) {
      expect(checked(field, input)).toBe("✗ must be a string");
      expect(accepts(field, input)).toBe(false);
    }
  });

  it("count code points", () => {
    const tooLong = "✗ must be at most 255 characters";
    expect(checked(string, "a".repeat(255))).toHaveLength(255);
    expect(checked(string, "a".repeat(256))).toBe(tooLong);
    expect(checked(string, "😀".repeat(255))).toBe("😀".repeat(255));
    expect(checked(string, "😀".repeat(256))).toBe(tooLong);
    expect(checked(string, `${"😀".repeat(254)}e\u0301`)).toBe(tooLong);
    expect(checked(text, "a".repeat(1_048_576))).toHaveLength(1_048_576);
    expect(checked(text, "a".repeat(1_048_577))).toBe("✗ must be at most 1048576 characters");
    expect(checked(string.min(2), "😀")).toBe("✗ must be at least 2 characters");
    expect(checked(string.max(1), "😀")).toBe("😀");
    expect(checked(string.length(2), "😀")).toBe("✗ must be at least 2 characters");
    expect(checked(string.length(2), "😀😀😀")).toBe("✗ must be at most 2 characters");
    expect(checked(string.min(1), "")).toBe("✗ must be at least 1 character");
  });

  it("normalise first and validate then", () => {
    expect(checked(string.trim().min(3), "   ")).toBe("✗ must be at least 3 characters");
    expect(checked(string.min(3).trim(), " abc\u00a0\n")).toBe("abc");
    expect(checked(string.max(3).trim(), "  abc  ")).toBe("abc");
    expect(checked(string.lower().regex(/^[a-z]+$/), "ABC")).toBe("abc");
    expect(checked(string.upper(), "abc")).toBe("ABC");
    expect(checked(email.trim().lower(), " A@X.com ")).toBe("a@x.com");
  });

  it("match a pattern independently each time, with any flags", () => {
    const field = string.regex(/^a/g, "an a first").regex(/b$/y);
    const schema = field.definition.kind.schema(field.definition);
    for (let i = 0; i < 3; i++) expect(schema.safeParse("ab").success).toBe(false);
    const global = string.regex(/a/g, "an a");
    const shared = global.definition.kind.schema(global.definition);
    for (let i = 0; i < 3; i++) expect(shared.safeParse("a").success).toBe(true);
    expect(checked(global, "b")).toBe("✗ an a");
    expect(checked(string.regex(/a/), "b")).toBe("✗ has the wrong format");
  });

  it.each(["a@x.com", "A.B+c@Sub.Example.COM", "o'brien@x.com", "a@xn--bcher-kva.example"])(
    "accept the address %j",
    (input) => {
      expect(checked(email, input)).toBe(input);
      expect(checked(string.email(), input)).toBe(input);
    },
  );

  it.each([
    "",
    "a",
    "a@",
    "@x.com",
    "a@x",
    "a@@x.com",
    "a b@x.com",
    "a@x..com",
    "a@-x.com",
    ".a@x.com",
    "a..b@x.com",
    "ａ@x.com",
    "a@x.com\u200b",
    " a@x.com",
    "a@x.com ",
    "a@x.com\n",
    "a@x.com, b@x.com",
    "<a@x.com>",
    "a@x.com\r\nBcc: b@x.com",
  ])("refuse the address %j", (input) => {
    expect(checked(email, input)).toBe("✗ must be an e-mail address");
    expect(checked(string.email(), input)).toBe("✗ must be an e-mail address");
  });

  it("refuse an overlong address before parsing it", () => {
    expect(checked(email, `${"a".repeat(10_000)}@x.com`)).toBe("✗ must be at most 255 characters");
    expect(checked(email, `a@${"x".repeat(200_000)}`)).toBe("✗ must be at most 255 characters");
    expect(checked(text.email(), `a@${"x.".repeat(100_000)}`)).toBe("✗ must be an e-mail address");
  });

  it.each([
    "http://x",
    "https://example.com/a?b=c#d",
    "HTTP://EXAMPLE.com",
    "https://[::1]:8080/",
    "https://bücher.example/ü",
  ])("accept the URL %j", (input) => expect(checked(string.url(), input)).toBe(input));

  it.each([
    "",
    "example.com",
    "//example.com",
    "http://",
    "http:/example.com",
    "https:example.com",
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>",
    "vbscript:x",
    "file:///etc/passwd",
    "ftp://example.com",
    "mailto:a@x.com",
    " http://x",
    "http://x ",
    "ht\ntp://x",
    "http://x\r\nSet-Cookie: a=b",
    "http:\\\\x",
    "https://good.example\\@evil.example",
    "http://x:99999",
  ])("refuse the URL %j", (input) => expect(checked(string.url(), input)).toBe("✗ must be an http or https URL"));

  it.each([25_000, 50_000])("refuse %i characters that nearly have the format", (length) => {
    const long = "a".repeat(length);
    for (const input of [`${long}@`, `${long}.${long}`, `a@${"a.".repeat(length)}`, `${"a.".repeat(length)}@a.b`])
      expect(checked(text.email(), input)).toBe("✗ must be an e-mail address");
    for (const input of [`${long}.${long}`, `http:/${long}`, `http://${long}:x`, `http://${"a.".repeat(length)} `])
      expect(checked(text.url(), input)).toBe("✗ must be an http or https URL");
  });

  it("sort by code point", () => {
    const { compare } = string.definition.kind;
    const sorted = ["", "A", "a", "aa", "b", "é", "\ud7ff", "\ue000", "\uffff", "😀", "😀a", "😁", "\u{10ffff}"];
    expect([...sorted].reverse().sort(compare)).toEqual(sorted);
    expect([...sorted].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))).toEqual(sorted);
    expect(compare("a", "a")).toBe(0);
  });
});

describe("enums", () => {
  it("accept only their values", () => {
    expect(checked(status, "draft")).toBe("draft");
    expect(read(status, "done")).toBe("done");
    for (const input of ["Draft", "draft ", "", "toString", "__proto__"]) {
      expect(checked(status, input)).toBe("✗ must be one of draft, done");
      expect(read(status, input)).toBe("✗ must be one of draft, done");
      expect(accepts(status, input)).toBe(false);
    }
    expect(checked(status, ["draft"])).toBe("✗ must be a string");
    expect(accepts(status, ["draft"])).toBe(false);
  });
});

describe("json", () => {
  const nested = (levels: number): unknown => {
    let value: unknown = 1;
    for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value };
    return value;
  };
  class Thing {
    a = 1;
  }

  it.each([
    [{}],
    [[]],
    [""],
    ["text"],
    [0],
    [1.5],
    [false],
    [{ a: [1, { b: null }] }],
    [{ constructor: { prototype: { z: 1 } } }],
    [Object.create(null)],
  ])("accepts %o", (input) => expect(checked(json, input)).toBe(input));

  it.each<[string, unknown]>([
    ["null, which is what an empty column reads as", null],
    ["undefined", undefined],
    ["undefined inside", { a: undefined }],
    ["a hole", new Array(1)],
    ["NaN", { a: Number.NaN }],
    ["Infinity", [Number.POSITIVE_INFINITY]],
    ["a bigint", 1n],
    ["a function", { a: () => 1 }],
    ["a symbol", Symbol("a")],
    ["a date", { a: new Date() }],
    ["an instance of a class", new Thing()],
    ["a map", new Map()],
    ["an own __proto__", JSON.parse('{ "__proto__": { "admin": true } }')],
    ["an own __proto__ deeper down", JSON.parse('[{ "a": { "__proto__": 1 } }]')],
    ["text that is not well formed", { a: "\ud800" }],
    ["a key that is not well formed", { "\ud800": 1 }],
    ["a NUL", ["\u0000"]],
    ["more than 20 levels", nested(21)],
    ["so many levels that recursion would fail", nested(100_000)],
  ])("refuses %s", (_, input) => {
    expect(checked(json, input)).toBe("✗ must be a JSON value at most 20 levels deep");
  });

  it("accepts 20 levels", () => {
    expect(isJsonValue(nested(20))).toBe(true);
  });

  it("cannot be compared", () => {
    expect(read(json, "{}")).toBe("✗ cannot be compared");
    expect(accepts(json, {})).toBe(false);
    expect(json.definition.kind.sortable).toBe(false);
    expect(json.definition.kind.compare(1, 2)).toBe(0);
  });
});

describe("a datetime in JSON", () => {
  it("is the text of toISOString, for every datetime that can be stored", () => {
    const { kind } = datetime.definition;
    const stored = fc.date({
      min: new Date("0001-01-01T00:00:00.000Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    void fc.assert(
      fc.property(stored, (moment) => {
        expect(kind.toWire?.(moment)).toBe(moment.toISOString());
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("a cell of CSV", () => {
  const cell = ({ definition: { kind } }: AnyField, value: unknown): unknown => kind.toCell(value);
  const back = ({ definition: { kind } }: AnyField, text: string): unknown => {
    const result = (kind.fromCell ?? kind.parse)(text);
    return result.ok ? result.value : `✗ ${result.message}`;
  };

  it.each<[string, string]>([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-5", "'-5"],
    ["@sum", "'@sum"],
    ["\t=1", "'\t=1"],
    ["\r=1", "'\r=1"],
    ["\n=1", "'\n=1"],
    ["＝1", "'＝1"],
    ["'－1", "''－1"],
    ["'=1", "''=1"],
    ["'''-", "''''-"],
    ["'quoted'", "'quoted'"],
    ["'", "'"],
    ["a=1", "a=1"],
    [" =1", " =1"],
    ["", ""],
  ])("keeps the text %j from being a formula, as %j, and restores it", (value, written) => {
    for (const field of [string, text, email, enums(value)]) expect(cell(field, value)).toBe(written);
    for (const field of [string, text, email, enums(value)]) expect(back(field, written)).toBe(value);
  });

  it("is the number or the boolean itself, and never guarded", () => {
    expect([cell(int, -5), cell(float, -0.5), cell(bool, false)]).toEqual([-5, -0.5, false]);
    expect([back(int, "-5"), back(float, "-0.5"), back(bool, "false")]).toEqual([-5, -0.5, false]);
  });

  it("is ISO text for a datetime, and JSON text for JSON", () => {
    expect(cell(datetime, moment("2024-05-31T12:00:00.250Z"))).toBe("2024-05-31T12:00:00.250Z");
    expect(back(datetime, "2024-05-31T12:00:00.250Z")).toEqual(moment("2024-05-31T12:00:00.250Z"));
    expect(cell(json, { a: ["=1", null] })).toBe('{"a":["=1",null]}');
    expect(back(json, "-5")).toBe(-5);
    expect(back(json, "{")).toBe("✗ must be JSON");
  });

  it("is refused if the text is not a value of the field", () => {
    expect(back(int, "'-5")).toBe(NO_INT);
    expect(back(status, "'-done")).toBe("✗ must be one of draft, done");
    expect(back(string, "'=\u0000")).toBe("✗ must be well-formed text");
  });

  it("of the same kind is used for encrypted fields", () => {
    expect(cell(int.encrypted(), -5)).toBe(-5);
    expect(cell(string.encrypted(), "=1")).toBe("'=1");
  });

  it("is parsed back to the value it was written from", () => {
    const formula = fc.string({ unit: fc.constantFrom("'", "=", "-", "+", "@", "\t", "\r", "\n", "＝", "a") });
    const values: readonly [AnyField, fc.Arbitrary<unknown>][] = [
      [
        text,
        fc.oneof(
          formula,
          fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\u0000")),
        ),
      ],
      [int, fc.integer()],
      [float, fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0 || 0)],
      [bool, fc.boolean()],
      [json, fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)))],
    ];
    for (const [field, any] of values)
      void fc.assert(
        fc.property(any, (value) => {
          expect(back(field, String(cell(field, value)))).toEqual(value);
        }),
      );
  });
});
