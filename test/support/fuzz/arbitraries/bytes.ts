import fc from "fast-check";
import { callers, type FuzzInput, loose } from "../fuzz-input.ts";
import { type Message, toBytes } from "../message.ts";

const REQUESTS: readonly Omit<Message, "caller">[] = [
  { method: "GET", target: "/api/posts?title_like=by&_sort=-views&include=author,tags&_limit=2" },
  { method: "GET", target: "/api/notes/n-ann" },
  { method: "PATCH", target: "/api/posts/p-ann", body: Buffer.from('{"title":"Another","views":2}') },
  { method: "POST", target: "/api/posts", body: Buffer.from('{"title":"A title","meta":{"a":[1,2]}}') },
  {
    method: "POST",
    target: "/api/notes",
    headers: ['Idempotency-Key: "k"'],
    body: Buffer.from('{"text":"a","secret":"b"}'),
  },
  { method: "DELETE", target: "/api/posts/p-ann", headers: ['If-Match: "1"'] },
];

interface Edit {
  readonly at: number;
  readonly cut: number;
  readonly insert: Uint8Array;
  /** Inserts the cut bytes here as well. */
  readonly isRepeated: boolean;
}

const MARKS = ["\r\n", "\n", "\r", "\0", " ", ":", "%", "\r\n\r\n", "\t", "\xff", "0", "{", '"'].map((text) =>
  Buffer.from(text, "latin1"),
);
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(700),
  cut: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 2 }) }, fc.integer({ min: 0, max: 200 })),
  insert: fc.oneof(fc.constantFrom<Uint8Array[]>(...MARKS), fc.uint8Array({ maxLength: 6 })),
  isRepeated: fc.boolean(),
});

function applyEdit(bytes: Buffer, { at, cut, insert, isRepeated }: Edit): Buffer {
  const place = at % (bytes.length + 1);
  const gone = bytes.subarray(place, place + cut);
  return Buffer.concat([
    bytes.subarray(0, place),
    isRepeated ? Buffer.concat([gone, gone]) : insert,
    bytes.subarray(place + cut),
  ]);
}

/** Valid requests with bytes changed anywhere. */
const edited = fc
  .tuple(callers, fc.constantFrom(...REQUESTS), fc.array(edit, { minLength: 1, maxLength: 2 }))
  .map(([caller, request, edits]) => loose(caller, edits.reduce(applyEdit, toBytes({ ...request, caller }))));

const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => loose("anonymous", Buffer.from(bytes)));

/** Arbitrary bytes. */
export const anyBytes: fc.Arbitrary<FuzzInput> = fc.oneof(
  { weight: 9, arbitrary: edited },
  { weight: 1, arbitrary: noise },
);
