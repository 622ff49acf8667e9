import { createHash, createHmac } from "node:crypto";
import { isKeelsonError } from "../../entity/index.ts";
import {
  type HookFunction,
  inTurn,
  notingScope,
  type OperationInput,
  type OperationScope,
  type PluginContext,
  type Route,
  type RouteCall,
  type RouteContext,
  ShownRecords,
  type TransactionSlots,
  transactionSlots,
} from "../../gate/index.ts";
import {
  AuthenticationError,
  AuthorizationError,
  BadRequestError,
  ConflictError,
  cancelBody,
  describeError,
  type KernelRequest,
  type KernelResponse,
  UnavailableError,
} from "../../kernel/index.ts";
import { CountableRecords } from "./countable-records.ts";
import {
  type Claim,
  claimKey,
  forgetKey,
  IdempotencyKeyRequiredError,
  keepAnswer,
  releaseKey,
  whileClaimed,
} from "./idempotency-keys.ts";
import type { IdempotencySettings, KeyRules } from "./idempotency-options.ts";
import { rightsNow } from "./rights.ts";
import { readAnswer, writeAnswer } from "./stored-answer.ts";

/** Equals no digest: what the response depends on is not known or could not be read at its end, so it is not repeated. */
const UNKNOWN = "";

/** Statuses of requests that are refused for what they say, at any time. */
const CONTENT: ReadonlySet<number> = new Set([400, 422]);

/** Headers that, besides the path, decide which state of a record a request is about. */
const CONDITIONS = ["if-match", "if-none-match"] as const;

/**
 * Distinguishes a repetition from another request: method, route, parameters, query, conditions and body. It is a
 * digest because bodies may contain passwords, with the key as its secret so that short values cannot be guessed.
 * @throws BadRequestError if the handler reads the raw body; any error from reading the body
 */
async function fingerprintOf(context: RouteContext, key: string): Promise<string> {
  const { route, request, params, search } = context;
  const hasBody = request.body !== undefined;
  if (hasBody && route.body !== undefined)
    throw new BadRequestError("This request cannot have an Idempotency-Key: its body is not kept. Send it without");
  const conditions = CONDITIONS.map((name) => request.headers[name] ?? null);
  const body = hasBody ? [canonical(await context.body())] : [];
  const said = [route.method, route.path, canonical(params), search, conditions, body];
  return createHmac("sha256", key).update(JSON.stringify(said)).digest("base64url");
}

/**
 * The same data with its members in a fixed order: a client may serialise them in another order when it retries.
 * Objects become lists of single members, and empty lists become `{}`, so that lists and objects stay distinct.
 */
function canonical(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? {} : value.map(canonical);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => ({ [name]: canonical(member) }));
}

/**
 * 1 to 255 visible ASCII characters except quotation marks, commas and backslashes, with or without quotation marks
 * around them.
 */
const VALUE = /^(?:"([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255}))$/;

/**
 * The key of a request. The draft requires quotation marks (RFC 9651, section 3.3.3), but most clients omit them.
 * Undefined without a key.
 * @throws BadRequestError for a malformed key, and for several keys
 */
function readKey({ headers }: KernelRequest): string | undefined {
  const value = headers["idempotency-key"];
  if (value === undefined) return undefined;
  const found = VALUE.exec(typeof value === "string" ? value.trim() : value.join(", "));
  const key = found?.[1] ?? found?.[2];
  if (key === undefined)
    throw new BadRequestError(
      "Idempotency-Key takes 1 to 255 visible ASCII characters without commas, quotation marks and backslashes, such as a UUID",
    );
  return key;
}

type Respond = RouteCall["respond"];

/** Runs the requests with one key only once. */
export function answerOnce(
  plugin: PluginContext,
  settings: IdempotencySettings,
  rules: () => KeyRules,
): HookFunction<"route:around"> {
  let slots: TransactionSlots | undefined;
  return (call) => {
    const { route, request } = call;
    const isKeyed = request.headers["idempotency-key"] !== undefined;
    if (!rules().takes(route) || !(isKeyed || rules().requires(route))) return;
    const next = call.respond;
    call.respond = async (scope) => {
      if (!isKeyed && scope.state.idempotencyKey !== undefined) return next(scope); // a batch has a key for all its items
      await assertMayUse(route, scope);
      const key = readKey(request);
      if (key === undefined) throw new IdempotencyKeyRequiredError();
      const id = idOfKey(call, key, settings);
      const found = await claimKey(scope, { id, fingerprint: await fingerprintOf(call, key) }, settings);
      if (found.kind === "claimed") return carryOut(call, next, scope, found);
      if (found.answer !== null) return readAnswer(found.answer, scope);
      throw new ConflictError("The request was carried out before, and its response cannot be replayed");
    };
  };

  async function carryOut(
    call: RouteCall,
    next: Respond,
    scope: OperationScope,
    claim: Claim,
  ): Promise<KernelResponse> {
    const isTransaction = rules().isTransaction(call.route);
    if (settings.transactions !== undefined) slots ??= transactionSlots(plugin.driver, settings.transactions);
    const late = slots ?? inTurn(scope);
    scope.state.idempotencyKey = claim.token;
    try {
      return await whileClaimed(scope, claim, settings.leaseMs, () =>
        isTransaction
          ? scope.transaction((inner) => respondAndKeep(call, next, inner, claim), { late })
          : respondThenKeep(call, next, scope, claim),
      );
    } catch (error) {
      await giveBack(scope, claim, error);
      throw error;
    }
  }

  /** The work and its stored response commit together, or neither does. */
  async function respondAndKeep(call: RouteCall, next: Respond, scope: OperationScope, claim: Claim) {
    const { response, write } = await respondWith(call, next, scope);
    try {
      await keepAnswer(scope, claim, await write());
    } catch (error) {
      void cancelBody(response);
      throw error;
    }
    return response;
  }

  /** The work is already done, so the response is returned even if it cannot be stored. */
  async function respondThenKeep(call: RouteCall, next: Respond, scope: OperationScope, claim: Claim) {
    const { response, write } = await respondWith(call, next, scope);
    try {
      await keepAnswer(scope, claim, await orNothing(scope, write));
    } catch (error) {
      const { requestId } = scope;
      scope.app.log.error("An answer could not be kept for its idempotency key", {
        requestId,
        ...describeError(error),
      });
    }
    return response;
  }

  async function respondWith(call: RouteCall, next: Respond, scope: OperationScope) {
    const headers = scope.exchange?.headers ?? {};
    const before = new Set(Object.keys(headers)); // headers that other plugins set for this request only
    const countable = new CountableRecords();
    const shown = new ShownRecords((within, notes) => countable.note(within, notes));
    scope.state.shown = shown;
    const response = await next(notingScope(scope));
    scope.state.shown = undefined;
    const added = Object.fromEntries(Object.entries(headers).filter(([name]) => !before.has(name)));
    const { entity } = call.route;
    const further = [...scope.access.masked, ...(entity === undefined ? [] : [entity])];
    // The request may have changed what its caller may do.
    const write = (): Promise<string> =>
      scope.anew(async (fresh) => {
        const { rights } = await rightsNow(fresh, shown, further);
        const isUnknown = !shown.isKnown || (await countable.areLost(fresh));
        return writeAnswer(response, added, isUnknown ? { ...rights, digest: UNKNOWN } : rights, settings.answerBytes);
      });
    return { response, write };
  }
}

/** Null for a response that is too large, and for one whose rights could not be noted. */
async function orNothing({ app, requestId }: OperationScope, write: () => Promise<string>): Promise<string | null> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof BadRequestError || error instanceof UnavailableError))
      app.log.error("The rights to an answer could not be noted", { requestId, ...describeError(error) });
    return null;
  }
}

/**
 * Releases the key after an error. A refused request is forgotten. A failed one may have had effects elsewhere with its
 * token, or have started a run, so only the same request may be retried, with the same token. Its retries may be
 * refused in between, unless for what the request says, which was the same in the failed attempt.
 */
async function giveBack(scope: OperationScope, claim: Claim, failure: unknown): Promise<void> {
  try {
    const isRefused = isKeelsonError(failure) && failure.status < 500;
    const isWithoutEffects = claim.token === claim.owner || (isRefused && CONTENT.has(failure.status));
    if (isRefused && isWithoutEffects) await forgetKey(scope, claim);
    else await releaseKey(scope, claim);
  } catch (error) {
    scope.app.log.warn("An idempotency key could not be given back", {
      requestId: scope.requestId,
      ...describeError(error),
    });
  }
}

/**
 * The stored id of a caller's key. The same key of two callers has two ids, so neither learns about the other.
 * @throws BadRequestError for callers that cannot be distinguished
 */
function idOfKey(
  { request, scope }: Pick<RouteContext, "request" | "scope">,
  key: string,
  { guestOf }: IdempotencySettings,
): string {
  const { user } = scope.principal;
  const guest = user === null ? guestOf(request) : undefined;
  if (user === null && (typeof guest !== "string" || guest === ""))
    throw new BadRequestError("Idempotency-Key is for callers who are known: log in, or send the request without it");
  const caller = user === null ? ["guest", guest] : ["user", user.id];
  return createHash("sha256")
    .update(JSON.stringify([...caller, key]))
    .digest("base64url");
}

/**
 * Checks whether the caller may use a route for some or all records, before the request is read or a stored response is
 * returned. The operations themselves decide about single records.
 * @throws AuthenticationError, AuthorizationError
 */
async function assertMayUse(route: Route, scope: OperationScope): Promise<void> {
  if (route.rules !== undefined && !(await scope.access.mayUse(route)).allowed)
    throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
  let refusal: unknown;
  for (const input of operationsOf(route)) {
    try {
      await scope.access.decide(input);
      return;
    } catch (error) {
      if (!(error instanceof AuthenticationError || error instanceof AuthorizationError)) throw error;
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
}

/** The operations that a route may run, as rules see them; one allowed operation is enough. */
function operationsOf({ entity, access, action, obeys, path }: Route): readonly OperationInput[] {
  if (entity === undefined || access === undefined) return [];
  const isOnRecord = path.split("/").includes(":id");
  const kind = access === "read" && !isOnRecord ? "list" : access;
  const asked: OperationInput = { kind, access, entity, rules: obeys };
  if (action === "upsert") return [asked, { kind: "update", entity, ids: [] }];
  // An action's own rules are not about a created record (see the rules of actions).
  return obeys === undefined || isOnRecord ? [asked] : [asked, { kind: "list", access, entity, rules: obeys }];
}
