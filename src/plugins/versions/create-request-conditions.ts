import type { AnyEntity } from "../../entity/index.ts";
import {
  AuthenticationError,
  AuthorizationError,
  type KernelRequest,
  type OperationQuery,
  PreconditionFailedError,
  PreconditionRequiredError,
  presentSettled,
  Reply,
  type RequestConditions,
  type RouteContext,
} from "../../kernel/index.ts";
import { askedOfRecord, asksOfRecord, NO_RECORD } from "./asked-of-record.ts";
import { readTags } from "./read-tags.ts";
import { tagOf, versionOf } from "./record-tag.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** What requests ask of the records that they are about. */
export function createRequestConditions(): RequestConditions {
  return Object.freeze<RequestConditions>({
    expect(context) {
      const { route, request, params, scope } = context;
      const { entity } = route;
      const { id } = params;
      if (entity === undefined || id === undefined) return;
      const isMissing = lacks(request, entity);
      if (!isMissing && !asksOfRecord(request)) return;
      scope.precondition = {
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

/** Whether a request leaves out the `If-Match` that its entity requires. */
function lacks({ headers }: KernelRequest, { versioned }: AnyEntity): boolean {
  return versioned?.required === true && headers["if-match"] === undefined;
}

function refusalOf({ name, versioned }: AnyEntity, isMissing: boolean): Error {
  if (isMissing) return new PreconditionRequiredError();
  return new PreconditionFailedError(versioned === undefined ? `Records of ${name} have no versions` : undefined);
}

/** Who may not read the record is told the same whatever its version is. */
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
