import { ConfigurationError } from "../../entity/base/keelson-error.ts";
import { BadRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from "../errors/errors.ts";
import type { Limits } from "./limits.ts";
import type { KernelBody, KernelRequest } from "./messages.ts";
import { boundedBody, collect, readJsonBody, single } from "./read-body.ts";

/** How a route reads a body that is not JSON. */
export interface BodyReading {
  /** "raw": a stream of bytes of any type. "multipart": a form with files, held in memory. */
  readonly as: "raw" | "multipart";
  /** Maximum size of the body in bytes. @default limits.bodyBytes */
  readonly bytes?: number | undefined;
  /** Maximum number of parts of a form. @default 100 */
  readonly parts?: number | undefined;
}

const PARTS = 100;
const MULTIPART = /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

/** @throws BadRequestError, PayloadTooLargeError, UnsupportedMediaTypeError */
export function readBody(request: KernelRequest, limits: Limits, reading: BodyReading | undefined): Promise<unknown> {
  if (reading === undefined) return readJsonBody(request, limits);
  const { as, bytes = limits.bodyBytes, parts = PARTS } = reading;
  return as === "raw" ? readBytes(request, bytes) : readForm(request, bytes, parts);
}

/** Problems of a route's `body` option. */
export function bodyReadingProblems({ as, bytes = 1, parts = 1 }: BodyReading): string[] {
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
  const problems: string[] = [];
  if (as !== "raw" && as !== "multipart") problems.push('body.as must be "raw" or "multipart"');
  if (!isCount(bytes)) problems.push("body.bytes must be a whole number, 1 or more");
  if (!isCount(parts)) problems.push("body.parts must be a whole number, 1 or more");
  return problems;
}

async function readBytes({ headers, body }: KernelRequest, most: number): Promise<AsyncIterable<Uint8Array>> {
  if (Number(single(headers["content-length"])) > most) throw new PayloadTooLargeError(most);
  return chunksOf(body === undefined ? undefined : boundedBody(body, most));
}

async function* chunksOf(body: KernelBody | undefined): AsyncGenerator<Uint8Array> {
  if (body?.kind === "stream") yield* body.stream;
  else if (body?.kind === "bytes") yield body.bytes;
  else if (body?.kind === "text") yield new TextEncoder().encode(body.text);
  else if (body?.kind === "parsed")
    throw new ConfigurationError(
      "A middleware has parsed a body whose bytes the route reads; mount the adapter before it",
    );
}

async function readForm(request: KernelRequest, most: number, parts: number): Promise<FormData> {
  const type = single(request.headers["content-type"]) ?? "";
  const [, quoted, plain] = MULTIPART.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new UnsupportedMediaTypeError("The body must be a form: multipart/form-data");
  const bytes = Buffer.from(await collect(await readBytes(request, most), most));
  if (countOf(bytes, `--${boundary}`) > parts + 1) throw new BadRequestError(`The form has more than ${parts} parts`);
  try {
    return await new Response(bytes, { headers: { "content-type": type } }).formData();
  } catch {
    throw new BadRequestError("The body is not a valid form");
  }
}

function countOf(bytes: Buffer, text: string): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) count++;
  return count;
}
