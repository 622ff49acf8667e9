import fc from "fast-check";
import { HOSTS, type HostName } from "../hosts.ts";
import type { CallerName } from "./callers.ts";
import { type Message, toBytes } from "./message.ts";

/** The bytes to send, and what is known about them. */
export interface FuzzInput {
  readonly caller: CallerName;
  readonly bytes: Buffer;
  /** Its only request is HEAD. */
  readonly isHead: boolean;
  /** It is one complete request, valid or not, so it gets one response. */
  readonly isWhole: boolean;
  /** It requests something that no caller may do. */
  readonly isForbidden: boolean;
}

/** The same, with the route it takes. */
export interface SentInput extends FuzzInput {
  readonly host: HostName;
  readonly packets: number;
}

/** One complete request. */
export function whole(message: Message, isForbidden = false): FuzzInput {
  const { caller, method } = message;
  return { caller, bytes: toBytes(message), isHead: method === "HEAD", isWhole: true, isForbidden };
}

/** Bytes that may contain any number of requests. */
export function loose(caller: CallerName, bytes: Buffer): FuzzInput {
  return { caller, bytes, isHead: false, isWhole: false, isForbidden: false };
}

/** Chooses the host for each input. */
export function sent(inputs: fc.Arbitrary<FuzzInput>): fc.Arbitrary<SentInput> {
  const host = fc.oneof(
    { weight: 6, arbitrary: fc.constant<HostName>("node") },
    { weight: 4, arbitrary: fc.constantFrom(...HOSTS) },
  );
  const packets = fc.oneof(
    { weight: 4, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 5 }) },
  );
  return fc.record({ input: inputs, host, packets }).map(({ input, ...way }) => {
    const text = { [fc.toStringMethod]: () => describeInput({ ...input, ...way }) };
    return Object.assign({ ...input, ...way }, text);
  });
}

/** An input as code that produces its bytes. */
export function describeInput({ caller, bytes, host, packets }: SentInput): string {
  const parts = bytes.toString("latin1").split(/((.)\2{99,})/s);
  // Groups of three: the text between, a long run of one character, and that character.
  const code = parts.flatMap((part, index) => {
    if (index % 3 === 1) return [`${quoted(part.charAt(0))}.repeat(${part.length})`];
    return index % 3 === 2 || part === "" ? [] : [quoted(part)];
  });
  return `${caller} to ${host} in ${packets} packet(s): Buffer.from(${code.join(" + ") || '""'}, "latin1")`;
}

function quoted(text: string): string {
  const hex = (character: string): string => `\\x${character.charCodeAt(0).toString(16)}`;
  return JSON.stringify(text).replace(/[\u007f-\u00ff]/g, hex);
}

export const callers: fc.Arbitrary<CallerName> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<CallerName>("ann") },
  { weight: 3, arbitrary: fc.constantFrom<CallerName[]>("anonymous", "bob", "root") },
);
