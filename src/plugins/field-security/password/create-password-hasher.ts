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

/** Hashes and verifies passwords off the main thread, a few at a time (security.md, "Passwords"). */
export interface PasswordHasher {
  /**
   * A hash of the exact bytes, to be stored.
   * @throws BadRequestError unless the password is well-formed text of 1 to 1,024 bytes
   * @throws ConfigurationError unless the cost is a whole number from 1 to 14, or "scrypt"
   * @throws UnavailableError when the queue is full
   */
  hash(password: string, options?: PasswordCostOptions): Promise<string>;
  /**
   * Whether a password is the one that was hashed. What nobody could have hashed, and a stored hash that is malformed or
   * asks for too much work, is false at once. Where there is no stored hash, because there is no such user, it is false
   * after the work of a hash of this `cost`: how long it takes does not say who exists.
   * @throws ConfigurationError as `hash`
   * @throws UnavailableError when the queue is full
   */
  verify(password: unknown, stored: string | null | undefined, options?: PasswordCostOptions): Promise<boolean>;
}

/**
 * A hasher with a queue of its own.
 * @throws ConfigurationError unless concurrency is a whole number of 1 or more, and the queue one of 0 or more
 */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const size = { concurrency: options.concurrency ?? DEFAULT_CONCURRENCY, queue: options.queue ?? 64 };
  checkSize(size);
  const inTurn = createHashQueue(size);
  const run = <T>(work: () => Promise<T>): Promise<T> => inTurn(() => onHashThread(work));

  async function hash(password: string, { cost = DEFAULT_COST }: PasswordCostOptions = {}): Promise<string> {
    checkCost(cost);
    checkPassword(password);
    return run(() => (cost === "scrypt" ? hashScrypt(password) : hashPbkdf2(password, cost)));
  }

  return Object.freeze<PasswordHasher>({
    hash,
    async verify(password, stored, { cost = DEFAULT_COST } = {}) {
      checkCost(cost);
      if (!isPassword(password)) return false;
      if (stored === null || stored === undefined) {
        await hash(password, { cost });
        return false;
      }
      const known = readStoredHash(stored);
      return known !== undefined && run(() => known.matches(password));
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
