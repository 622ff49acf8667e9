import { ConfigurationError } from "../../../entity/index.ts";
import { createHashQueue, type HashQueueSize } from "./hash-queue.ts";
import { DEFAULT_CONCURRENCY, onHashThread } from "./hash-threads.ts";
import { checkCost, DEFAULT_COST, type PasswordCost } from "./password-cost.ts";
import { checkPassword, isPassword } from "./password-input.ts";
import { hashPbkdf2 } from "./pbkdf2.ts";
import { readStoredHash } from "./read-stored-hash.ts";
import { hashScrypt } from "./scrypt.ts";

/** How much a hasher does at once. */
export interface PasswordHasherOptions {
  /**
   * Hashes at once. All hashers of a process together leave one thread of `UV_THREADPOOL_SIZE` free, whatever this says.
   * @default the number of cores, or one less than UV_THREADPOOL_SIZE (4) if that is less
   */
  readonly concurrency?: number | undefined;
  /** Hashes that wait for their turn; beyond it they are refused. @default 64 */
  readonly queue?: number | undefined;
}

/** What is known about the hash in question. */
export interface PasswordCostOptions {
  /** The `cost` of the field, or "scrypt" for what `hashPassword` makes. @default 10 */
  readonly cost?: PasswordCost | undefined;
}

/** What is known about the hash in question, and for how long somebody wants to know more. */
export interface PasswordWorkOptions extends PasswordCostOptions {
  /**
   * Such as that of a request. When it is aborted, work that waits for its turn is given up; work that has begun ends.
   * @default waits as long as it takes
   */
  readonly signal?: AbortSignal | undefined;
}

/** Hashes and verifies passwords off the main thread, a few at a time (security.md, "Passwords"). */
export interface PasswordHasher {
  /**
   * A hash of the exact bytes, to be stored.
   * @throws BadRequestError unless the password is well-formed text of 1 to 1,024 bytes
   * @throws ConfigurationError unless the cost is a whole number from 1 to 14, or "scrypt"
   * @throws UnavailableError when the queue is full, or the signal is aborted before its turn
   */
  hash(password: string, options?: PasswordWorkOptions): Promise<string>;
  /**
   * Whether a password is the one that was hashed. What nobody could have hashed is false at once. Where nothing is
   * stored, because there is no such user, or what is stored is no hash (`""`, `"!"`, malformed, asking for too much
   * work), it is false after the work of a hash of this `cost`: how long it takes does not say who has a password.
   * @throws ConfigurationError as `hash`
   * @throws UnavailableError as `hash`
   */
  verify(password: unknown, stored: string | null | undefined, options?: PasswordWorkOptions): Promise<boolean>;
}

/**
 * A hasher with a queue of its own.
 * @throws ConfigurationError unless concurrency is a whole number of 1 or more, and the queue one of 0 or more
 */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const size = { concurrency: options.concurrency ?? DEFAULT_CONCURRENCY, queue: options.queue ?? 64 };
  checkSize(size);
  const inTurn = createHashQueue(size);
  const run = <T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
    inTurn(() => onHashThread(work, signal), signal);

  async function hash(password: string, { cost = DEFAULT_COST, signal }: PasswordWorkOptions = {}): Promise<string> {
    checkCost(cost);
    checkPassword(password);
    return run(() => (cost === "scrypt" ? hashScrypt(password) : hashPbkdf2(password, cost)), signal);
  }

  return Object.freeze<PasswordHasher>({
    hash,
    async verify(password, stored, { cost = DEFAULT_COST, signal } = {}) {
      checkCost(cost);
      if (!isPassword(password)) return false;
      const known = readStoredHash(stored);
      if (known !== undefined) return run(() => known.matches(password), signal);
      await hash(password, { cost, signal });
      return false;
    },
  });
}

function checkSize({ concurrency, queue }: HashQueueSize): void {
  const problems: string[] = [];
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    problems.push("`concurrency` of password hashing must be a whole number, 1 or more");
  if (!Number.isSafeInteger(queue) || queue < 0)
    problems.push("`queue` of password hashing must be a whole number, 0 or more");
  if (problems.length > 0) throw new ConfigurationError(problems);
}
