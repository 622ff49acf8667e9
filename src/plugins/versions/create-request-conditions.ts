import { createHash } from "node:crypto";
import type { AnyEntity } from "../../entity/index.ts";
import {
  allOf,
  type OperationQuery,
  presentSettled,
  type RequestConditions,
  type RouteContext,
  type Where,
} from "../../gate/index.ts";
import {
  AuthenticationError,
  AuthorizationError,
  BadRequestError,
  type KernelRequest,
  PreconditionFailedError,
  PreconditionRequiredError,
  Reply,
} from "../../kernel/index.ts";

/** The value of `If-Match` or `If-None-Match`: any record, or one with one of these tags. */
type Tags = "any" | readonly Tag[];

/** An entity tag. `opaque` is the text between its quotation marks. */
interface Tag {
  readonly opaque: string;
  readonly weak: boolean;
}

/** The most tags in one header. */
const MOST_TAGS = 100;
/** One element of a list, which may be empty, with the comma after it. Sticky, so that parsing is linear. */
const ELEMENT = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/**
 * The tags of a header (RFC 9110, sections 13.1.1 and 13.1.2); undefined without it.
 * @throws BadRequestError
 */
function readTags({ headers }: KernelRequest, name: "if-match" | "if-none-match"): Tags | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  const text = (typeof value === "string" ? value : value.join(", ")).trim();
  if (text === "*") return "any";
  const tags = tagsOf(text);
  if (tags === undefined || tags.length === 0 || tags.length > MOST_TAGS)
    throw new BadRequestError(`${name} takes * or a list of at most ${MOST_TAGS} entity tags, such as "3"`);
  return tags;
}

function tagsOf(text: string): readonly Tag[] | undefined {
  const tags: Tag[] = [];
  for (let at = 0; at < text.length; ) {
    ELEMENT.lastIndex = at;
    const element = ELEMENT.exec(text);
    if (element === null) return undefined;
    const [whole, weak, opaque] = element;
    if (opaque !== undefined) tags.push({ opaque, weak: weak !== undefined });
    at += whole.length;
  }
  return tags;
}

/** A version, alone or before a digest. Records from before versioning may have started with 0 or a negative number. */
const VERSION = /^(0|-?[1-9]\d{0,9})(?:\.[\w-]+)?$/;

/**
 * The text of a response's ETag: the record's version and a digest of the exact bytes. A strong tag identifies bytes
 * (RFC 9110, section 8.8.1), which also depend on related records, selected fields and the caller.
 */
function tagOf(version: number, text: string): string {
  return `${version}.${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;
}

/** The version in a tag; undefined for tags that Keelson did not create. */
function versionOf(opaque: string): number | undefined {
  const found = VERSION.exec(opaque);
  if (found === null) return undefined;
  const version = Number(found[1]);
  return (version | 0) === version ? version : undefined; // int32, like the column
}

const ANY_RECORD: Where = Object.freeze({});
/** A condition that no record satisfies. */
const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/** Whether a request has a precondition on its record. */
function asksOfRecord({ headers }: KernelRequest): boolean {
  return headers["if-match"] !== undefined || headers["if-none-match"] !== undefined;
}

/**
 * The precondition of a request that is not a plain read. Only the version in a tag counts, independent of the response
 * for which the tag was made. Records without versions have no tags, and neither do records whose version is hidden
 * from the caller: `If-Match` with a tag then never matches (RFC 9110, section 13.1.1).
 * @throws BadRequestError for invalid headers
 */
function askedOfRecord({ request, scope }: Pick<RouteContext, "request" | "scope">, entity: AnyEntity): Where {
  const { readable, filterable } = scope.access.mask(entity);
  const hasTags = entity.versioned !== undefined && readable.has("version") && filterable.has("version");
  return allOf(
    matching(readTags(request, "if-match"), hasTags),
    request.method === "GET" || request.method === "HEAD"
      ? undefined
      : differing(readTags(request, "if-none-match"), hasTags),
  );
}

function matching(tags: ReturnType<typeof readTags>, hasTags: boolean): Where {
  if (tags === undefined || tags === "any") return ANY_RECORD;
  // Weak tags do not count for `If-Match`, which needs a strong comparison (RFC 9110, section 8.8.3.2).
  return hasTags ? { version: { in: versionsOf(tags.filter(({ weak }) => !weak)) } } : NO_RECORD;
}

function differing(tags: ReturnType<typeof readTags>, hasTags: boolean): Where | undefined {
  if (tags === undefined) return undefined;
  if (tags === "any") return NO_RECORD;
  return hasTags ? { version: { nin: versionsOf(tags) } } : undefined;
}

function versionsOf(tags: readonly Tag[]): readonly number[] {
  return tags.map(({ opaque }) => versionOf(opaque)).filter((version) => version !== undefined);
}

const JSON_TYPE = "application/json; charset=utf-8";

/** Creates the service for preconditions of requests. */
export function createRequestConditions(): RequestConditions {
  return Object.freeze<RequestConditions>({
    expect(context) {
      const { route, request, params, scope } = context;
      const { entity } = route;
      const { id } = params;
      if (entity === undefined || id === undefined) return;
      const isMissing = lacks(request, entity);
      if (!isMissing && !asksOfRecord(request)) return;
      scope.state.precondition = {
        entity,
        id,
        where: () => (isMissing ? NO_RECORD : askedOfRecord(context, entity)),
        refusal: () => refusalOf(entity, isMissing),
      };
    },
    check(context, changes) {
      const { request, route } = context;
      const entity = route.entity as AnyEntity;
      if (changes && lacks(request, entity)) throw new PreconditionRequiredError();
      const isAsked = request.method === "GET" ? request.headers["if-match"] !== undefined : asksOfRecord(request);
      return isAsked ? assertThere(context, entity) : undefined;
    },
    answer: answerWithRecord,
  });
}

/** Whether a request lacks the `If-Match` that its entity requires. */
function lacks({ headers }: KernelRequest, { versioned }: AnyEntity): boolean {
  return versioned?.required === true && headers["if-match"] === undefined;
}

function refusalOf({ name, versioned }: AnyEntity, isMissing: boolean): Error {
  if (isMissing) return new PreconditionRequiredError();
  return new PreconditionFailedError(versioned === undefined ? `Records of ${name} have no versions` : undefined);
}

/** Checks the precondition. Callers who may not read the record get the same error for every version. */
async function assertThere(context: RouteContext, entity: AnyEntity): Promise<void> {
  const { id } = context.params;
  try {
    const query = (): OperationQuery => ({ where: askedOfRecord(context, entity), select: ["id"] });
    const { records } = await context.scope.run({ kind: "read", entity, id, query, bounded: true, ifFound: true });
    if (records.length > 0) return;
  } catch (error) {
    if (!(error instanceof AuthorizationError || error instanceof AuthenticationError)) throw error;
  }
  throw refusalOf(entity, false);
}

async function answerWithRecord({ request, scope }: RouteContext, reply: Reply, version: unknown): Promise<Reply> {
  if (typeof version !== "number") return reply;
  const text = JSON.stringify(await presentSettled(reply.body, scope, true));
  const opaque = tagOf(version, text);
  const headers = { ...reply.headers, etag: `"${opaque}"` };
  if (request.method === "GET" || request.method === "HEAD") {
    const matching = readTags(request, "if-match");
    const isMatch = ({ opaque: tag, weak }: { opaque: string; weak: boolean }) => !weak && versionOf(tag) === version;
    if (Array.isArray(matching) && !matching.some(isMatch)) throw new PreconditionFailedError();
    const known = readTags(request, "if-none-match");
    if (known === "any" || known?.some((tag) => tag.opaque === opaque)) return new Reply(304, undefined, headers);
  }
  return new Reply(reply.status, Buffer.from(text), { ...headers, "content-type": JSON_TYPE });
}
