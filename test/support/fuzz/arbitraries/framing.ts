import fc from "fast-check";
import { TOKENS } from "../callers.ts";
import { type FuzzInput, loose } from "../fuzz-input.ts";
import { headLines, joinLines } from "../message.ts";

const json = '{"title":"A title"}';

/** A request that must never run: it stands where only a body may be. */
const SMUGGLED = [
  `DELETE /api/users/bob HTTP/1.1\r\nHost: fuzz.invalid\r\nAuthorization: Bearer ${TOKENS.root}\r\n\r\n`,
  `PATCH /api/posts/p-bob HTTP/1.1\r\nHost: fuzz.invalid\r\nAuthorization: Bearer ${TOKENS.root}\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{"title":"smuggled!"}`,
];

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

const LENGTHS = [
  "19",
  "0",
  "18",
  "20",
  "1000",
  "-1",
  "+19",
  "19, 19",
  "19, 20",
  "0x13",
  "19abc",
  "1e2",
  " ",
  "99999999999999999999",
  "\t19",
  "19\x0b",
];
const CODINGS = [
  "chunked",
  "Chunked",
  "identity",
  "chunked, chunked",
  "gzip, chunked",
  "chunked, identity",
  "xchunked",
  "chunked\x0b",
  "\tchunked",
  " chunked ",
  "chunked;q=1",
  '"chunked"',
  "",
];
const NAMES = [
  "Transfer-Encoding",
  "transfer-encoding ",
  "Transfer_Encoding",
  " Transfer-Encoding",
  "Transfer-Encoding\t",
  "X: y\nTransfer-Encoding",
  "Transfer\x00-Encoding",
];

const CHUNKS = [
  `${chunk(json)}0\r\n\r\n`,
  `${chunk(json.slice(0, 5))}${chunk(json.slice(5))}0\r\n\r\n`,
  `13;ext=1\r\n${json}\r\n0\r\n\r\n`,
  `13;ext="\r\n"\r\n${json}\r\n0\r\n\r\n`,
  `013\r\n${json}\r\n000\r\n\r\n`,
  `0x13\r\n${json}\r\n0\r\n\r\n`,
  `-13\r\n${json}\r\n0\r\n\r\n`,
  `13 \r\n${json}\r\n0\r\n\r\n`,
  `13\n${json}\n0\n\n`,
  `13\r\n${json}0\r\n\r\n`,
  `13\r\n${json}XX0\r\n\r\n`,
  `ffffffffffffffff\r\n${json}\r\n0\r\n\r\n`,
  `fffffffffffffffffffff\r\n${json}\r\n0\r\n\r\n`,
  `${chunk(json)}0\r\nX-Trailer: y\r\n\r\n`,
  `${chunk(json)}0\r\nContent-Length: 5\r\nAuthorization: Bearer x\r\n\r\n`,
  `${chunk(json)}0\r\n\r\nrest`,
  `${chunk(json)}0\r\n`,
  chunk(json),
  "0\r\n\r\n",
  "",
];

const lines = (...added: readonly string[]): string[] => [
  ...headLines({ caller: "ann", method: "POST", target: "/api/posts" }),
  "Content-Type: application/json",
  ...added,
];
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

/** Wrong lengths, and bodies that are longer or shorter than announced. */
const lyingLength = fc
  .tuple(
    fc.array(fc.constantFrom(...LENGTHS), { minLength: 1, maxLength: 2 }),
    fc.constantFrom("", json, json.slice(0, 9), `${json}garbage`),
  )
  .map(([lengths, body]) => joinLines(lines(...lengths.map((length) => `Content-Length: ${length}`)), latin1(body)));

/** Chunks of every shape, with every kind of announcement. */
const badChunks = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...CODINGS), fc.constantFrom(...CHUNKS))
  .map(([name, coding, body]) => joinLines(lines(`${name}: ${coding}`), latin1(body)));

/** Two lengths at once: whichever of them a proxy in front uses, the hidden request must never run. */
const smuggling = fc
  .record({
    name: fc.constantFrom(...NAMES),
    coding: fc.constantFrom(...CODINGS),
    isFirst: fc.boolean(),
    hidden: fc.constantFrom(...SMUGGLED),
    isChunk: fc.boolean(),
  })
  .map(({ name, coding, isFirst, hidden, isChunk }) => {
    const body = isChunk ? `${chunk(hidden)}0\r\n\r\n` : `0\r\n\r\n${hidden}`;
    const length = `Content-Length: ${body.length}`;
    const pair = isFirst ? [`${name}: ${coding}`, length] : [length, `${name}: ${coding}`];
    return joinLines(lines(...pair), latin1(body));
  });

const HEADS = [
  "GET /api/posts HTTP/1.0\r\n\r\n",
  "GET /api/posts HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
  "GET /api/posts/export HTTP/1.0\r\n\r\n",
  "GET /api/posts HTTP/1.1\r\n\r\n",
  "GET /api/posts HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "GET /api/posts HTTP/2.0\r\nHost: a\r\n\r\n",
  "GET /api/posts HTTP/1.10\r\nHost: a\r\n\r\n",
  "GET /api/posts\r\n\r\n",
  "GET  /api/posts  HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET\t/api/posts\tHTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /api/posts HTTP/1.1\nHost: a\n\n",
  "\r\n\r\nGET /api/posts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  "GET /api/posts HTTP/1.1\r\n Host: a\r\n\r\n",
  "GET /api/posts HTTP/1.1\r\nHost: a\r\n folded\r\nConnection: close\r\n\r\n",
  "GET /api/posts HTTP/1.1\r\nHost a\r\n\r\n",
  "GET /api/posts HTTP/1.1\r\n: a\r\n\r\n",
  "GET /api/posts HTTP/1.1\r\nHost: a\rb\r\n\r\n",
  "GET /api/po\rsts HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /api/po\x00sts HTTP/1.1\r\nHost: a\r\n\r\n",
  "get /api/posts HTTP/1.1\r\nHost: a\r\n\r\n",
  "FOO /api/posts HTTP/1.1\r\nHost: a\r\n\r\n",
  "CONNECT fuzz.invalid:443 HTTP/1.1\r\nHost: a\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "GET /api/posts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
  `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET /api/posts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${"X: y\r\n".repeat(1_500)}\r\n`,
];

/** Several requests on one connection; the last one may be cut off. */
const pipelined = fc
  .tuple(
    fc.array(fc.constantFrom("/api/posts", "/api/notes", "/api/posts/p-ann", "/api/%zz", "/api/nowhere"), {
      minLength: 1,
      maxLength: 5,
    }),
    fc.nat(40),
  )
  .map(([targets, cut]) => {
    const requests = targets.map(
      (target) => `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKENS.ann}\r\n\r\n`,
    );
    const whole = latin1(requests.join(""));
    return whole.subarray(0, whole.length - cut);
  });

/** Not a message, several messages, or a message with an ambiguous end. */
export const framing: fc.Arbitrary<FuzzInput> = fc
  .oneof(lyingLength, badChunks, smuggling, fc.constantFrom(...HEADS).map(latin1), pipelined)
  .map((bytes) => loose("ann", bytes));
