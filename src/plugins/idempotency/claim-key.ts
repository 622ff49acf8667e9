import { defaultIds, type OperationScope, type Row } from "../../gate/index.ts";
import { ConflictError } from "../../kernel/index.ts";
import { IdempotencyKeyInUseError, IdempotencyKeyReusedError } from "./idempotency-errors.ts";
import type { IdempotencySettings } from "./idempotency-options.ts";
import { KEY, type StoredKey } from "./key-entity.ts";

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
  const now = scope.now().getTime();
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
  await scope.driver.updateMany(KEY, held(claim), { leaseUntil: scope.now() });
}

/** Says that the try goes on. */
export async function renewKey(scope: OperationScope, claim: Claim, leaseMs: number): Promise<void> {
  await scope.driver.updateMany(KEY, held(claim), { leaseUntil: new Date(scope.now().getTime() + leaseMs) });
}
