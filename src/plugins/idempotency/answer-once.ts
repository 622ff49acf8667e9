import { isKeelsonError } from "../../entity/index.ts";
import {
  BadRequestError,
  ConflictError,
  cancelBody,
  describeError,
  type HookFunction,
  type KernelResponse,
  type OperationScope,
  type PluginContext,
  type RouteCall,
  ShownRecords,
} from "../../kernel/index.ts";
import { assertMayUse } from "./assert-may-use.ts";
import { type Claim, claimKey, forgetKey, keepAnswer, releaseKey } from "./claim-key.ts";
import { fingerprintOf } from "./fingerprint-of.ts";
import { idOfKey } from "./id-of-key.ts";
import { IdempotencyKeyRequiredError } from "./idempotency-errors.ts";
import type { IdempotencySettings } from "./idempotency-options.ts";
import type { KeyRules } from "./key-rules-of.ts";
import { readKey } from "./read-key.ts";
import { rightsOf, usesNow } from "./rights-of.ts";
import { readAnswer, writeAnswer } from "./stored-answer.ts";
import { type TransactionSlots, transactionSlots } from "./transaction-slots.ts";
import { whileClaimed } from "./while-claimed.ts";

type Respond = RouteCall["respond"];

/** Carries out the requests of one key once. */
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
      await assertMayUse(route, scope);
      const key = readKey(request);
      if (key === undefined) throw new IdempotencyKeyRequiredError();
      const id = idOfKey(call, key, settings);
      const found = await claimKey(scope, { id, fingerprint: await fingerprintOf(call, key) }, settings);
      if (found.kind === "claimed") return carryOut(call, next, scope, found);
      if (found.answer !== null) return readAnswer(found.answer, scope);
      throw new ConflictError("The request was carried out before, and its answer is none that can be kept");
    };
  };

  async function carryOut(
    call: RouteCall,
    next: Respond,
    scope: OperationScope,
    claim: Claim,
  ): Promise<KernelResponse> {
    const isTransaction = rules().isTransaction(call.route);
    slots ??= transactionSlots(plugin.driver, settings.transactions);
    const late = slots;
    scope.idempotencyKey = claim.token;
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

  /** The answer and what it is the answer to commit together, or not at all. */
  async function respondAndKeep(call: RouteCall, next: Respond, scope: OperationScope, claim: Claim) {
    const { response, write } = await respondWith(call, next, scope);
    try {
      await keepAnswer(scope, claim, write());
    } catch (error) {
      void cancelBody(response);
      throw error;
    }
    return response;
  }

  /** What is done is done: an answer that cannot be kept is given all the same. */
  async function respondThenKeep(call: RouteCall, next: Respond, scope: OperationScope, claim: Claim) {
    const { response, write } = await respondWith(call, next, scope);
    try {
      await keepAnswer(scope, claim, orNothing(write));
    } catch (error) {
      const { requestId } = scope;
      scope.log.error("An answer could not be kept for its idempotency key", { requestId, ...describeError(error) });
    }
    return response;
  }

  async function respondWith(call: RouteCall, next: Respond, scope: OperationScope) {
    const headers = scope.exchange?.headers ?? {};
    const before = new Set(Object.keys(headers)); // what others say of this request only
    const shown = new ShownRecords();
    scope.shown = shown;
    const response = await next(scope);
    scope.shown = undefined;
    const added = Object.fromEntries(Object.entries(headers).filter(([name]) => !before.has(name)));
    const { entity } = call.route;
    const records = new Map([...shown.ids].map(([of, ids]) => [of.name, ids]));
    const seen = [...scope.masked, ...(entity === undefined ? [] : [entity])];
    const rights = await rightsOf(scope, [...records.keys(), ...seen.map(({ name }) => name)], records);
    const uses = await usesNow(
      scope,
      shown.uses.map((use) => ({ ...use, entity: use.entity.name })),
    );
    const kept = uses.length === 0 ? rights : { ...rights, uses };
    return { response, write: () => writeAnswer(response, added, kept, settings.answerBytes) };
  }
}

function orNothing(write: () => string): string | null {
  try {
    return write();
  } catch (error) {
    if (error instanceof BadRequestError) return null;
    throw error;
  }
}

/**
 * A request that was refused leaves nothing. One that failed may have reached others by its token: it is the same that may
 * be tried again, and under the same token.
 */
async function giveBack(scope: OperationScope, claim: Claim, failure: unknown): Promise<void> {
  try {
    if (isKeelsonError(failure) && failure.status < 500) await forgetKey(scope, claim);
    else await releaseKey(scope, claim);
  } catch (error) {
    scope.log.warn("An idempotency key could not be given back", {
      requestId: scope.requestId,
      ...describeError(error),
    });
  }
}
