import { type AnyEntity, datetime, entity, KeelsonError, string, text } from "../../entity/index.ts";
import { defaultIds, type OperationScope, type PluginContext, type Row } from "../../gate/index.ts";
import { ConflictError, describeError } from "../../kernel/index.ts";
import type { IdempotencySettings } from "./idempotency-options.ts";

/** A key that this try holds. */
export interface Claim extends Pick<StoredKey, "id" | "owner" | "token"> {
  readonly kind: "claimed";
}

/** A key whose request has a stored response. */
export interface Answered {
  readonly kind: "answered";
  readonly answer: string | null;
}

/**
 * Claims a key, in its own statement that other processes see at once, or finds the stored response. The unique id
 * decides between concurrent requests.
 * @throws IdempotencyKeyInUseError, IdempotencyKeyReusedError
 */
export async function claimKey(
  scope: OperationScope,
  { id, fingerprint }: Pick<StoredKey, "id" | "fingerprint">,
  { ttlMs, leaseMs }: Pick<IdempotencySettings, "ttlMs" | "leaseMs">,
): Promise<Claim | Answered> {
  const { driver } = scope;
  const now = scope.app.now().getTime();
  const owner = defaultIds.next();
  const times = { leaseUntil: new Date(now + leaseMs), expiresAt: new Date(now + ttlMs) };
  // Reads before it writes: in a database with a single writer, the request that works on this key may hold the writer.
  const find = async () => (await driver.findOne(KEY, { id })) as unknown as StoredKey | null;
  let found = await find();
  const begun: Row = { id, fingerprint, token: owner, owner, status: "started", answer: null, ...times };
  if (found === null) {
    try {
      await driver.create(KEY, begun);
      return { kind: "claimed", id, owner, token: owner };
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      found = await find();
    }
  }
  if (found === null) throw new IdempotencyKeyInUseError(); // the key was deleted in between
  const isExpired = found.expiresAt.getTime() <= now;
  if (!isExpired && found.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
  if (!isExpired && found.status === "answered") return { kind: "answered", answer: found.answer };
  if (!isExpired && found.leaseUntil.getTime() > now) throw new IdempotencyKeyInUseError();
  // The lease has run out, or the key has expired and starts again. Of several requests that see this, one succeeds.
  const token = isExpired ? owner : found.token;
  const where = { id, owner: found.owner, status: found.status, leaseUntil: found.leaseUntil };
  const taken = await driver.update(KEY, where, { ...begun, token });
  if (taken === null) throw new IdempotencyKeyInUseError();
  return { kind: "claimed", id, owner, token };
}

/** The condition that this try still holds the key. */
function held({ id, owner }: Claim): Row & { readonly id: string } {
  return { id, owner, status: "started" };
}

/**
 * Stores the response, in the transaction of the request's work.
 * @throws IdempotencyKeyInUseError when another try has taken over the key, which rolls back this one
 */
export async function keepAnswer(scope: OperationScope, claim: Claim, answer: string | null): Promise<void> {
  const kept = await scope.driver.update(KEY, held(claim), { status: "answered", answer });
  if (kept === null) throw new IdempotencyKeyInUseError();
}

/** Deletes the key of a refused request. It may then be used for another request. */
export async function forgetKey(scope: OperationScope, claim: Claim): Promise<void> {
  await scope.driver.deleteMany(KEY, held(claim));
}

/** Ends the lease, so that the same request can be retried at once. */
export async function releaseKey(scope: OperationScope, claim: Claim): Promise<void> {
  await scope.driver.updateMany(KEY, held(claim), { leaseUntil: scope.app.now() });
}

/** Renews the lease of a try that is still running. */
export async function renewKey(scope: OperationScope, claim: Claim, leaseMs: number): Promise<void> {
  await scope.driver.updateMany(KEY, held(claim), { leaseUntil: new Date(scope.app.now().getTime() + leaseMs) });
}

/** Name of the entity that stores keys. */
export const KEY = "idempotencyKey";

/**
 * The entity of keys. Its id is a digest of the caller and the key, so that the table reveals neither.
 * @param encrypted whether responses are encrypted with the app's keys
 */
export function keyEntity(encrypted: boolean): AnyEntity {
  return entity(KEY, {
    fingerprint: string.describe("Digest of the request, with the key as its secret"),
    token: string.describe("What all tries of the request have in common"),
    owner: string.describe("The try that works on it, or has answered"),
    status: string.describe("started or answered"),
    leaseUntil: datetime,
    expiresAt: datetime,
    answer: encrypted ? text.optional().encrypted() : text.optional(),
  })
    .internal()
    .timestamps(false)
    .index(["expiresAt"])
    .build();
}

/** A stored key. */
interface StoredKey {
  readonly id: string;
  readonly fingerprint: string;
  readonly token: string;
  readonly owner: string;
  readonly status: "started" | "answered";
  readonly leaseUntil: Date;
  readonly expiresAt: Date;
  readonly answer: string | null;
}

/**
 * Runs work while the key's lease is renewed. A failed renewal does not end the work: storing the response checks who
 * holds the key.
 */
export async function whileClaimed<T>(
  scope: OperationScope,
  claim: Claim,
  leaseMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    if (isRenewing) return; // a transaction may hold the row, or the database's only writer
    isRenewing = true;
    try {
      await renewKey(scope, claim, leaseMs);
    } catch (error) {
      scope.app.log.warn("An idempotency key could not be renewed", {
        requestId: scope.requestId,
        ...describeError(error),
      });
    } finally {
      isRenewing = false;
    }
  };
  const beat = setInterval(() => void renew(), Math.max(1, leaseMs / 3));
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}

/** Deletes expired keys at intervals. */
export interface Sweeping {
  /** Resolves when no deletion is in progress. */
  end(): Promise<void>;
}

/** The longest interval in milliseconds. */
const EVERY_MS = 600_000;
/** Keys per delete statement, so that requests are not blocked. */
const BATCH = 1_000;

/** Starts deleting expired keys. Every process does so; they do not disturb each other. */
export function keepSwept(plugin: PluginContext, ttlMs: number): Sweeping {
  let sweep: Promise<void> = Promise.resolve();
  const timer = setInterval(
    () => {
      sweep = sweepKeys(plugin).catch((error: unknown) => {
        plugin.log.warn("Expired idempotency keys could not be deleted", describeError(error));
      });
    },
    Math.min(EVERY_MS, ttlMs),
  ).unref();
  return {
    end() {
      clearInterval(timer);
      return sweep;
    },
  };
}

/** Deletes all expired keys in batches. */
function sweepKeys({ runAs }: PluginContext): Promise<void> {
  return runAs("system", async (scope) => {
    const { driver } = scope;
    const expired = { expiresAt: { lte: scope.app.now() } };
    for (;;) {
      const rows = await driver.findMany(KEY, { where: expired, select: ["id"], limit: BATCH });
      if (rows.length > 0) await driver.deleteMany(KEY, { id: { in: rows.map(({ id }) => id) }, ...expired });
      if (rows.length < BATCH) return;
    }
  });
}

/** The request needs an `Idempotency-Key`; 400. */
export class IdempotencyKeyRequiredError extends KeelsonError {
  constructor(message = 'The request needs an "Idempotency-Key"') {
    super("IDEMPOTENCY_KEY_REQUIRED", 400, message);
  }
}

/** The first request with this key is still in progress; 409 with `Retry-After`. */
export class IdempotencyKeyInUseError extends KeelsonError {
  constructor(message = "The first request with this Idempotency-Key is still being carried out") {
    super("IDEMPOTENCY_KEY_IN_USE", 409, message, { headers: { "retry-after": "1" } });
  }
}

/** The key was used for another request; 422. */
export class IdempotencyKeyReusedError extends KeelsonError {
  constructor(message = "The Idempotency-Key was used for another request") {
    super("IDEMPOTENCY_KEY_REUSED", 422, message);
  }
}
