import fc from "fast-check";
import { TOKENS } from "../callers.ts";
import { callers, type FuzzInput, loose, whole } from "../fuzz-input.ts";
import { headLines, joinLines, type Message } from "../message.ts";

const [tokenHead = "", tokenClaims = "", signature = ""] = TOKENS.ann.split(".");
const base64url = (text: string): string => Buffer.from(text).toString("base64url");
const asRoot = base64url(Buffer.from(tokenClaims, "base64url").toString().replace('"ann"', '"root"'));

/** Values that an attacker might try. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  Authorization: [
    "",
    "Bearer",
    "Bearer ",
    "Bearer null",
    "bearer  x",
    "Basic cm9vdDpyb290",
    `Bearer ${tokenHead}.${tokenClaims}.`,
    `Bearer ${tokenHead}.${asRoot}.${signature}`,
    `Bearer ${base64url('{"alg":"none"}')}.${asRoot}.`,
    `Bearer ${base64url('{"alg":"HS256","crit":["x"],"x":1}')}.${asRoot}.${signature}`,
    `Bearer ${base64url('{"alg":"HS256","jku":"http://127.0.0.1:1/"}')}.${asRoot}.${signature}`,
    `Bearer ${TOKENS.ann}.${signature}`,
    `Bearer ${TOKENS.ann} , Bearer x`,
    `Bearer ${"x".repeat(9_000)}`,
  ],
  "If-Match": ["*", '"1"', 'W/"1"', '"', "1", "", '"1","2"', ",", '"\xff"', '"1'.repeat(50), '"x",'.repeat(120)],
  "If-None-Match": ["*", '"1"', 'W/"1"', '"', "", '"1-"'],
  "Idempotency-Key": ["a-key", '"a-key"', "", '"', "a,b", "\xe9", "x".repeat(255), "x".repeat(256), "__proto__"],
  Accept: [
    "application/problem+json",
    "text/html",
    "*/*",
    "",
    "application/json;q=0",
    "application/problem+json;q=x",
    "\xff",
  ],
  "X-Forwarded-For": [
    "127.0.0.1",
    "1.2.3.4, 5.6.7.8",
    "::1",
    "unknown",
    "",
    ",",
    "999.1.1.1",
    "[::1]:x",
    "fe80::1%eth0",
    "x".repeat(3_000),
  ],
  "X-Forwarded-Host": ["evil.invalid", "a b"],
  "X-Forwarded-Proto": ["https", "javascript"],
  Forwarded: ["for=127.0.0.1;host=evil.invalid"],
  "X-HTTP-Method-Override": ["DELETE", "PUT", "x"],
  "X-Original-URL": ["/api/users/bob", "/api/notes"],
  "X-Request-Id": ["mine", "a\tb", "x".repeat(2_000)],
  Cookie: ["a=b", "user=root", "=;;;", "\xff=\xff"],
  Origin: ["null", "http://evil.invalid", "*"],
  Host: ["other.invalid", "a/b?c", "", ":", "[::1", "a@b", "\xff"],
  Range: ["bytes=0-1", "bytes=-1"],
  Prefer: ["return=minimal"],
  "Accept-Encoding": ["gzip, br", "identity;q=0"],
  "Accept-Language": ["de", "../../etc"],
  Expect: ["100-continue", "200-ok"],
  Upgrade: ["websocket", "h2c"],
  "HTTP2-Settings": ["AAMAAABkAAQAoAAAAAIAAAAA"],
  Connection: ["Upgrade, HTTP2-Settings", "close, Authorization", "keep-alive"],
  Traceparent: ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-x"],
  "Content-Length": ["0", "00"],
  "X-Odd": ["a\x01b", "x".repeat(20_000), "(", " "],
};
const NAMES = Object.keys(VALUES);
const value = fc.oneof(
  fc
    .array(
      fc.integer({ min: 0x21, max: 0xff }).filter((byte) => byte !== 0x7f),
      { maxLength: 20 },
    )
    .map((bytes) => Buffer.from(bytes).toString("latin1")),
);
const header = fc
  .constantFrom(...NAMES)
  .chain((name) =>
    fc
      .oneof(
        { weight: 5, arbitrary: fc.constantFrom(...(VALUES[name] as readonly string[])) },
        { weight: 1, arbitrary: value },
      )
      .map((text) => ({ name, line: `${name}: ${text}` })),
  );

const TARGETS: readonly Omit<Message, "caller">[] = [
  { method: "GET", target: "/api/posts" },
  { method: "GET", target: "/api/posts/p-ann" },
  { method: "GET", target: "/api/notes" },
  { method: "HEAD", target: "/api/posts/p-bob" },
  { method: "GET", target: "/api/posts/export?format=csv" },
  { method: "PATCH", target: "/api/posts/p-ann", body: Buffer.from('{"title":"Another"}') },
  { method: "PATCH", target: "/api/posts/p-bob", body: Buffer.from('{"title":"Another"}') },
  { method: "POST", target: "/api/posts", body: Buffer.from('{"title":"A title"}') },
  { method: "POST", target: "/api/posts/p-ann/toggle-published", body: Buffer.from("{}") },
  { method: "DELETE", target: "/api/posts/p-ann" },
  { method: "DELETE", target: "/api/notes/n-bob" },
  { method: "POST", target: "/api/notes/n-ann/clone" },
  { method: "GET", target: "/api/posts/missing" },
  { method: "POST", target: "/echo", body: Buffer.from('{"text":"a"}') },
];

/** Headers for which the host may refuse the request before the app sees it, or close the connection. */
const UNSURE = new Set(["Host", "Content-Length", "Expect", "Upgrade", "Connection", "X-Odd"]);

/** Headers that some servers trust or do not expect; some sent twice, some in place of the usual ones. */
export const headers: fc.Arbitrary<FuzzInput> = fc
  .record({
    caller: callers,
    target: fc.constantFrom(...TARGETS),
    list: fc.array(header, { minLength: 1, maxLength: 5 }),
    isInstead: fc.boolean(),
  })
  .map(({ caller, target, list, isInstead }) => {
    const message: Message = { ...target, caller };
    const given = new Set(list.map(({ name }) => `${name}:`.toLowerCase()));
    const [requestLine = "", ...own] = headLines(message);
    const kept = isInstead ? own.filter((line) => !given.has(`${line.split(":", 1)[0]}:`.toLowerCase())) : own;
    const bytes = joinLines([requestLine, ...kept, ...list.map(({ line }) => line)], message.body);
    if (list.some(({ name, line }) => UNSURE.has(name) || line.length > 8_000))
      return { ...loose(caller, bytes), isHead: target.method === "HEAD" };
    return { ...whole(message), bytes };
  });
