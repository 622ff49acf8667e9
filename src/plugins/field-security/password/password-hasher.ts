import { availableParallelism } from "node:os";
import { ConfigurationError } from "../../../entity/index.ts";
import { BadRequestError, UnavailableError, type ValidationIssue } from "../../../kernel/index.ts";
import { checkCost, DEFAULT_COST, type PasswordCost } from "./password-cost.ts";
import { hashPbkdf2, hashScrypt, readStoredHash } from "./stored-hash.ts";

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

/** What is known about the hash, and how long the caller waits for the result. */
export interface PasswordWorkOptions extends PasswordCostOptions {
  /**
   * Such as that of a request. When it is aborted, work that waits for its turn is given up; work that has begun ends.
   * @default waits as long as it takes
   */
  readonly signal?: AbortSignal | undefined;
}

/** Hashes and verifies passwords off the main thread, a few at a time. */
export interface PasswordHasher {
  /**
   * A hash of the exact bytes, to be stored.
   * @throws BadRequestError unless the password is well-formed text of 1 to 1,024 bytes
   * @throws ConfigurationError unless the cost is a whole number from 1 to 14, or "scrypt"
   * @throws UnavailableError when the queue is full, or the signal is aborted before its turn
   */
  hash(password: string, options?: PasswordWorkOptions): Promise<string>;
  /**
   * Whether a password is the one that was hashed. A value that cannot have been hashed is false at once. Where nothing is
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

/** Bytes of UTF-8 that a submitted password may have. */
const MAX_PASSWORD_BYTES = 1_024;

/** What is wrong with a password, without quoting it. */
type PasswordProblem = Pick<ValidationIssue, "code" | "message">;

/**
 * What is wrong with a submitted password, looked at before it is hashed; undefined for a
 * well-formed text of 1 to 1,024 bytes. Nothing is trimmed, normalised or cut. How many characters it needs is the
 * field's `.min()`.
 */
export function passwordProblem(password: unknown): PasswordProblem | undefined {
  if (typeof password !== "string") return { code: "invalid_type", message: "must be a string" };
  if (password === "") return { code: "too_small", message: "must not be empty" };
  // A UTF-16 unit is at least one byte: what is far too long is not even counted.
  if (password.length > MAX_PASSWORD_BYTES || Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    return { code: "too_big", message: `must be at most ${MAX_PASSWORD_BYTES} bytes` };
  // A lone surrogate would be hashed as U+FFFD; HMAC pads its key with NUL, so that "a" and "a\0" have the same hash.
  if (!password.isWellFormed() || password.includes("\u0000"))
    return { code: "custom", message: "must be well-formed text without NUL characters" };
  return undefined;
}

/** Whether it may be hashed, and so may have been. */
export function isPassword(password: unknown): password is string {
  return passwordProblem(password) === undefined;
}

/** @throws BadRequestError unless it may be hashed */
export function checkPassword(password: unknown): asserts password is string {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new BadRequestError(`A password ${problem.message}`);
}

/** Threads in libuv's pool: `UV_THREADPOOL_SIZE` as libuv reads it. */
export function threadPoolSize(setting: string | undefined = process.env.UV_THREADPOOL_SIZE): number {
  if (setting === undefined) return 4;
  const size = Number.parseInt(setting, 10) || 1;
  return size < 0 || size > 1024 ? 1024 : size;
}

const threads = Math.max(1, threadPoolSize() - 1);

/** Hashes that a queue runs at once unless told otherwise: one per core, and one thread fewer than there are at most. */
export const DEFAULT_CONCURRENCY: number = Math.min(threads, availableParallelism());

/**
 * The threads that all hashers of the process share. A hash holds a thread of libuv's pool, on which DNS look-ups, files
 * and some database clients wait as well: whatever the hashers together ask for, one thread stays free of hashing.
 */
const onHashThread: HashQueue = createHashQueue({ concurrency: threads, queue: Number.POSITIVE_INFINITY });

/**
 * Runs a piece of work when it is its turn. Fails as the work does, which then gives its place to the next.
 * @param signal when it is aborted, work that still waits is taken out of the queue: UnavailableError (503)
 */
type HashQueue = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface HashQueueSize {
  readonly concurrency: number;
  readonly queue: number;
}

/**
 * A new queue, first come, first served. What finds it full is refused at once with UnavailableError (503, `Retry-After`):
 * a caller who would wait for many seconds is better told to come back.
 */
export function createHashQueue({ concurrency, queue }: HashQueueSize): HashQueue {
  const waiting = new Set<() => void>(); // in the order they came
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
      // The place is handed on and never free in between, so that a new caller does not overtake one who waits.
      const [next] = waiting;
      if (next === undefined) running--;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}

/** Work for a request that was answered or broken off would only keep others waiting. */
function abandoned(): UnavailableError {
  return new UnavailableError("The request ended before it was the turn of its password");
}
