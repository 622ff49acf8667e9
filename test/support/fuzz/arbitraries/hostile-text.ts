import fc from "fast-check";
import { SECRETS } from "../canaries.ts";

/** Text that some parser, database or file system treats as more than text. */
const CLASSICS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\u007f",
  "\u202e",
  "\u200b",
  "\ufeff",
  "\ufffd",
  "' OR '1'='1",
  '" OR ""="',
  "'; DROP TABLE post; --",
  "1) UNION SELECT 1 --",
  "%",
  "_",
  "\\",
  "%%%%____",
  "$" + "{7*7}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "=1+1",
  "-1+1",
  "@SUM(A1)",
  "../../etc/passwd",
  "file:///etc/passwd",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "true",
  "[object Object]",
  '{"$ne":null}',
  "a,b\\,c\\",
  "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "$pbkdf2$1$AA==$AA==",
  "\r\nSet-Cookie: a=b",
  "é".repeat(300),
  "😀".repeat(256),
  "a\u0301".repeat(200),
  "x".repeat(5_000),
];

/** Every stored secret, for callers that try to confirm a guess. */
const GUESSES = [...Object.values(SECRETS.ann), ...Object.values(SECRETS.bob)].map(String);

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...CLASSICS) },
  { weight: 2, arbitrary: fc.constantFrom(...GUESSES) },
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
);

const NUMBERS = [
  "0",
  "-0",
  "1",
  "-1",
  "1.5",
  "007",
  "+5",
  "1e3",
  "1e308",
  "1e999",
  "-1e999",
  "1e-400",
  "2147483647",
  "2147483648",
  "-2147483649",
  "9007199254740993",
  "123456789012345678901234567890",
  "0.1234567890123456789",
  "0x10",
  "Infinity",
  "９",
];

export const hostileNumber: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.integer().map(String),
  fc.double().map(String),
);

const DATES = [
  "2024-02-29",
  "2024-02-30",
  "2024-13-01",
  "2024-01-01T00:00:00Z",
  "2024-01-01T00:00:00+14:00",
  "2024-01-01T24:00:00Z",
  "2024-01-01T23:59:60Z",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "+275760-09-13T00:00:00Z",
  "-000001-01-01T00:00:00Z",
  "yesterday",
  "1700000000000",
];

export const hostileDate: fc.Arbitrary<string> = fc.constantFrom(...DATES);

export const hostileValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  { weight: 2, arbitrary: hostileNumber },
  { weight: 1, arbitrary: hostileDate },
  {
    weight: 1,
    arbitrary: fc.constantFrom("true", "false", "TRUE", "yes", "draft", "live", "p-ann", "ann", "bob", "t1"),
  },
);
