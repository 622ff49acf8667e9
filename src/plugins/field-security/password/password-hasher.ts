import { availableParallelism } from "node:os";
import { ConfigurationError } from "../../../entity/index.ts";
import { BadRequestError, UnavailableError, type ValidationIssue } from "../../../kernel/index.ts";
import { checkCost, DEFAULT_COST, type PasswordCost } from "./password-cost.ts";
import { hashPbkdf2, hashScrypt, readStoredHash } from "./stored-hash.ts";

/** Limits of a hasher. */
export interface PasswordHasherOptions {
  /**
   * Hashes at once. All hashers of a process together always leave one thread of `UV_THREADPOOL_SIZE` free.
   * @default the number of cores, or one less than UV_THREADPOOL_SIZE (4) if that is less
   */
  readonly concurrency?: number | undefined;
  /** The most hashes that wait for their turn; further ones are refused. @default 64 */
  readonly queue?: number | undefined;
}

/** The cost of a hash. */
export interface PasswordCostOptions {
  /** The `cost` of the field, or "scrypt" for hashes of `hashPassword`. @default 10 */
  readonly cost?: PasswordCost | undefined;
}

/** The cost of a hash, and a signal that ends the wait for it. */
export interface PasswordWorkOptions extends PasswordCostOptions {
  /**
   * For example the signal of a request. When it is aborted, work that waits for its turn is given up; work that has
   * started is finished.
   * @default waits without a limit
   */
  readonly signal?: AbortSignal | undefined;
}

/** Hashes and verifies passwords off the main thread, a few at a time. */
export interface PasswordHasher {
  /**
   * Hashes the exact bytes of a password.
   * @throws BadRequestError unless the password is well-formed text of 1 to 1,024 bytes
   * @throws ConfigurationError unless the cost is a whole number from 1 to 14, or "scrypt"
   * @throws UnavailableError when the queue is full, or the signal is aborted before its turn
   */
  hash(password: string, options?: PasswordWorkOptions): Promise<string>;
  /**
   * Whether a password matches a stored hash. A value that cannot be a password is false at once. If no valid hash is
   * stored, because there is no such user or the hash is malformed or needs too much work, it is false after the work
   * of a hash with this `cost`, so that the time does not reveal who has a password.
   * @throws ConfigurationError as `hash`
   * @throws UnavailableError as `hash`
   */
  verify(password: unknown, stored: string | null | undefined, options?: PasswordWorkOptions): Promise<boolean>;
}

/**
 * Creates a hasher with its own queue.
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

/** The longest password in bytes of UTF-8. */
const MAX_PASSWORD_BYTES = 1_024;

/** The problem of a password, without quoting it. */
type PasswordProblem = Pick<ValidationIssue, "code" | "message">;

/**
 * The problem of a submitted password, checked before it is hashed; undefined for well-formed text of 1 to 1,024 bytes.
 * Passwords are not trimmed, normalised or shortened. The field's `.min()` sets the number of characters.
 */
export function passwordProblem(password: unknown): PasswordProblem | undefined {
  if (typeof password !== "string") return { code: "invalid_type", message: "must be a string" };
  if (password === "") return { code: "too_small", message: "must not be empty" };
  // A UTF-16 unit is at least one byte, so text that is far too long is not measured.
  if (password.length > MAX_PASSWORD_BYTES || Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    return { code: "too_big", message: `must be at most ${MAX_PASSWORD_BYTES} bytes` };
  // A lone surrogate would be hashed as U+FFFD; HMAC pads its key with NUL, so that "a" and "a\0" have the same hash.
  if (!password.isWellFormed() || password.includes("\u0000"))
    return { code: "custom", message: "must be well-formed text without NUL characters" };
  return undefined;
}

/** Whether a value can be hashed as a password. */
export function isPassword(password: unknown): password is string {
  return passwordProblem(password) === undefined;
}

/** @throws BadRequestError unless it can be hashed */
export function checkPassword(password: unknown): asserts password is string {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new BadRequestError(`A password ${problem.message}`);
}

/** The size of libuv's thread pool: parses `UV_THREADPOOL_SIZE` as libuv does. */
export function threadPoolSize(setting: string | undefined = process.env.UV_THREADPOOL_SIZE): number {
  if (setting === undefined) return 4;
  const size = Number.parseInt(setting, 10) || 1;
  return size < 0 || size > 1024 ? 1024 : size;
}

const threads = Math.max(1, threadPoolSize() - 1);

/** Default number of hashes that a queue runs at once: one per core, but at most all threads except one. */
export const DEFAULT_CONCURRENCY: number = Math.min(threads, availableParallelism());

/**
 * The threads that all hashers of the process share. A hash occupies a thread of libuv's pool, which DNS look-ups,
 * files and some database clients also use. Together, the hashers always leave one thread free.
 */
const onHashThread: HashQueue = createHashQueue({ concurrency: threads, queue: Number.POSITIVE_INFINITY });

/**
 * Runs work when it is its turn, and then hands its place to the next. Throws any error of the work.
 * @param signal when it is aborted, waiting work is removed from the queue with UnavailableError (503)
 */
type HashQueue = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface HashQueueSize {
  readonly concurrency: number;
  readonly queue: number;
}

/**
 * Creates a first-in, first-out queue. When it is full, work is refused at once with UnavailableError (503,
 * `Retry-After`), because callers should rather retry than wait for many seconds.
 */
export function createHashQueue({ concurrency, queue }: HashQueueSize): HashQueue {
  const waiting = new Set<() => void>(); // in order of arrival
  let running = 0;

  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(begin);
        reject(abandoned());
      };
      waiting.add(begin);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  return async (work, signal) => {
    if (signal?.aborted) throw abandoned();
    if (running < concurrency) running++;
    else if (waiting.size < queue) await turn(signal);
    else throw new UnavailableError("Too many passwords are being checked at the moment; try again soon");
    try {
      return await work();
    } finally {
      // The place is handed over directly, so that a new caller does not overtake a waiting one.
      const [next] = waiting;
      if (next === undefined) running--;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}

/** The error for work whose request has ended; running it would only delay others. */
function abandoned(): UnavailableError {
  return new UnavailableError("The request ended before it was the turn of its password");
}
