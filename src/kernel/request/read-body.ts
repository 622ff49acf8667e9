import { BadRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from "../errors/errors.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import type { KernelBody, KernelRequest } from "./messages.ts";

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
const utf8 = new TextDecoder("utf-8", { fatal: true });

export function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.[0];
}

/**
 * Reads the JSON body of a request and checks it: type, encoding, size, UTF-8, depth, no `__proto__`. The strict
 * content type also blocks cross-site forms.
 * @throws BadRequestError, PayloadTooLargeError, UnsupportedMediaTypeError
 */
export async function readJsonBody(request: KernelRequest, limits: Limits): Promise<unknown> {
  const { headers, body } = request;
  if (!JSON_TYPE.test(single(headers["content-type"]) ?? "")) throw new UnsupportedMediaTypeError();
  const encoding = single(headers["content-encoding"]);
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw new UnsupportedMediaTypeError("Compressed bodies are not accepted; send the body without Content-Encoding");
  if (Number(single(headers["content-length"])) > limits.bodyBytes) throw new PayloadTooLargeError(limits.bodyBytes);
  if (body === undefined) throw new BadRequestError("The body is empty; send a JSON object");
  const value = body.kind === "parsed" ? body.value : parseJson(await readText(body, limits.bodyBytes));
  const problem = jsonShapeProblem(value, limits.jsonDepth, limits.jsonValues);
  if (problem !== undefined) throw new BadRequestError(`The body ${problem}`);
  return value;
}

/**
 * Limits the size of a body. A stream is measured while it is read; a body that the host has parsed is not measured.
 * @throws PayloadTooLargeError immediately for bytes and text; for a stream, its reader gets the error
 */
export function boundedBody(body: KernelBody, most: number): KernelBody {
  if (body.kind === "stream") return { kind: "stream", stream: bounded(body.stream, most) };
  if (body.kind === "bytes") within(body.bytes, most);
  else if (body.kind === "text" && Buffer.byteLength(body.text) > most) throw new PayloadTooLargeError(most);
  return body;
}

async function* bounded(stream: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > most) throw new PayloadTooLargeError(most);
    yield chunk;
  }
}

async function readText(
  body: Exclude<KernelRequest["body"], undefined | { kind: "parsed" }>,
  limit: number,
): Promise<string> {
  if (body.kind === "text") {
    if (Buffer.byteLength(body.text) > limit) throw new PayloadTooLargeError(limit);
    return body.text;
  }
  return decode(body.kind === "bytes" ? within(body.bytes, limit) : await collect(body.stream, limit));
}

function within(bytes: Uint8Array, limit: number): Uint8Array {
  if (bytes.byteLength > limit) throw new PayloadTooLargeError(limit);
  return bytes;
}

/** @throws PayloadTooLargeError */
export async function collect(stream: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > limit) throw new PayloadTooLargeError(limit);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new BadRequestError("The body is not valid UTF-8");
  }
}

function parseJson(text: string): unknown {
  if (text.trim() === "") throw new BadRequestError("The body is empty; send a JSON object");
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message contains parts of the body.
    throw new BadRequestError("The body is not valid JSON");
  }
}

/**
 * Checks the size and depth of a parsed JSON value. Returns the problem as the end of a sentence, or undefined.
 * Iterative, so that deep input cannot overflow the stack; the parser itself is safe. It stops at the limits, which
 * also bound the work of later code.
 * @param maxDepth the maximum nesting depth
 * @param maxValues the maximum number of object members and list items in total
 */
export function jsonShapeProblem(
  root: unknown,
  maxDepth: number,
  maxValues: number = DEFAULT_LIMITS.jsonValues,
): string | undefined {
  if (typeof root !== "object" || root === null) return undefined;
  let values = 0;
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, "__proto__")) return 'contains the key "__proto__"';
      const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
      values += children.length;
      if (values > maxValues) return `has more than ${maxValues} values`;
      for (const child of children) if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return undefined;
}
