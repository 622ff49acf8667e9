import { type AnyEntity, datetime, entity, KeelsonError, string, text } from "../../entity/index.ts";
import { defaultIds, type OperationScope, type PluginContext, type Row } from "../../gate/index.ts";
import { ConflictError, describeError } from "../../kernel/index.ts";
import type { IdempotencySettings } from "./idempotency-options.ts";

/** A key that this try works on. */
export interface Claim extends Pick<StoredKey, "id" | "owner" | "token"> {
  readonly kind: "claimed";
}

/** A key whose request has been answered. */
export interface Answered {
  readonly kind: "answered";
  readonly answer: string | null;
}

/**
 * Takes a key, in a statement of its own that other processes see at once; or finds what it was answered with. The unique
 * id decides between those that come together.
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
  // Reads before it writes: in a database with a single writer, the request that works on this key holds it.
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
  if (found === null) throw new IdempotencyKeyInUseError(); // it was forgotten a moment ago
  const isExpired = found.expiresAt.getTime() <= now;
  if (!isExpired && found.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
  if (!isExpired && found.status === "answered") return { kind: "answered", answer: found.answer };
  if (!isExpired && found.leaseUntil.getTime() > now) throw new IdempotencyKeyInUseError();
  // The lease has run out, or the key has expired and starts anew. Of several requests that see this, one is first.
  const token = isExpired ? owner : found.token;
  const where = { id, owner: found.owner, status: found.status, leaseUntil: found.leaseUntil };
  const taken = await driver.update(KEY, where, { ...begun, token });
  if (taken === null) throw new IdempotencyKeyInUseError();
  return { kind: "claimed", id, owner, token };
}

/** Condition of whatever is done with a key on behalf of a try: that it is still the one that works on it. */
function held({ id, owner }: Claim): Row & { readonly id: string } {
  return { id, owner, status: "started" };
}

/**
 * Keeps the answer, in the transaction of what it is the answer to.
 * @throws IdempotencyKeyInUseError when another try has the key by now, which undoes this one
 */
export async function keepAnswer(scope: OperationScope, claim: Claim, answer: string | null): Promise<void> {
  const kept = await scope.driver.update(KEY, held(claim), { status: "answered", answer });
  if (kept === null) throw new IdempotencyKeyInUseError();
}

/** Forgets a key whose request was refused: the next one with it may be another request. */
export async function forgetKey(scope: OperationScope, claim: Claim): Promise<void> {
  await scope.driver.deleteMany(KEY, held(claim));
}

/** Lets the next try of the same request begin at once. */
export async function releaseKey(scope: OperationScope, claim: Claim): Promise<void> {
  await scope.driver.updateMany(KEY, held(claim), { leaseUntil: scope.app.now() });
}

/** Says that the try goes on. */
export async function renewKey(scope: OperationScope, claim: Claim, leaseMs: number): Promise<void> {
  await scope.driver.updateMany(KEY, held(claim), { leaseUntil: new Date(scope.app.now().getTime() + leaseMs) });
}

/** Name of the entity that keys are kept in. */
export const KEY = "idempotencyKey";

/**
 * What is known of a key. Its id is a digest of the caller and the key, so that the table tells neither.
 * @param encrypted whether answers are encrypted, by the app's keys
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

/** A key as it is stored. */
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
 * Runs work while the key is renewed again and again. A renewal that fails ends nothing: keeping the answer asks whose the
 * key is.
 */
export async function whileClaimed<T>(
  scope: OperationScope,
  claim: Claim,
  leaseMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    if (isRenewing) return; // a transaction may have the row, or the database's only writer
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

/** What deletes keys from time to time. */
export interface Sweeping {
  /** Resolves when no deletion is in progress. */
  end(): Promise<void>;
}

/** Milliseconds between looks at most. */
const EVERY_MS = 600_000;
/** Keys of one statement, which must not hold up the requests of others. */
const BATCH = 1_000;

/** Deletes keys that have expired. Every process does so, and they do not get in each other's way. */
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

/** Deletes all keys that have expired by now, a batch at a time. */
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

/** The request has to carry an `Idempotency-Key`; 400. */
export class IdempotencyKeyRequiredError extends KeelsonError {
  constructor(message = 'The request needs an "Idempotency-Key"') {
    super("IDEMPOTENCY_KEY_REQUIRED", 400, message);
  }
}

/** The first request with this key is still being carried out; 409 with `Retry-After`. */
export class IdempotencyKeyInUseError extends KeelsonError {
  constructor(message = "The first request with this Idempotency-Key is still being carried out") {
    super("IDEMPOTENCY_KEY_IN_USE", 409, message, { headers: { "retry-after": "1" } });
  }
}

/** The key was sent before with another request; 422. */
export class IdempotencyKeyReusedError extends KeelsonError {
  constructor(message = "The Idempotency-Key was used for another request") {
    super("IDEMPOTENCY_KEY_REUSED", 422, message);
  }
}
