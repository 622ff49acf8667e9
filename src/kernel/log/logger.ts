import { isKeelsonError } from "../../entity/base/keelson-error.ts";
import { isPromiseLike } from "../async/promises.ts";

/** The logger interface that Keelson uses. A logger that throws or rejects never fails a request. */
export interface Logger {
  debug(message: string, meta?: Readonly<Record<string, unknown>>): void;
  info(message: string, meta?: Readonly<Record<string, unknown>>): void;
  warn(message: string, meta?: Readonly<Record<string, unknown>>): void;
  error(message: string, meta?: Readonly<Record<string, unknown>>): void;
}

const LEVELS = ["debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

function nothing(): void {}

/** Discards all messages. */
export const noopLogger: Logger = Object.freeze({ debug: nothing, info: nothing, warn: nothing, error: nothing });

function write(level: Level, message: string, meta: Readonly<Record<string, unknown>> | undefined): void {
  const fields =
    meta === undefined
      ? ""
      : ` ${JSON.stringify(meta, (_key, value) => (typeof value === "bigint" ? String(value) : value))}`;
  process.stderr.write(`${new Date().toISOString()} ${level.toUpperCase()} ${message}${fields}\n`);
}

/**
 * Writes one line per message to standard error. `debug` is silent unless `KEELSON_DEBUG` is set in the environment.
 */
export const consoleLogger: Logger = Object.freeze({
  debug: (message: string, meta?: Readonly<Record<string, unknown>>) => {
    if (process.env.KEELSON_DEBUG) write("debug", message, meta);
  },
  info: (message: string, meta?: Readonly<Record<string, unknown>>) => write("info", message, meta),
  warn: (message: string, meta?: Readonly<Record<string, unknown>>) => write("warn", message, meta),
  error: (message: string, meta?: Readonly<Record<string, unknown>>) => write("error", message, meta),
});

/** Returns a logger that prefixes every message with `[prefix]`. */
export function createPrefixedLogger(prefix: string, logger: Logger): Logger {
  return mapLevels((level, message, meta) => logger[level](`[${prefix}] ${message}`, meta));
}

type Meta = Readonly<Record<string, unknown>>;

/**
 * The key of a message that may contain values. Removed before logging, because `util.inspect` and `console` print
 * symbols, too.
 */
export const kHiddenMessage = Symbol("keelson.hiddenMessage");

type Described = Meta & { readonly [kHiddenMessage]?: unknown };

/** Shows or removes the hidden messages of an error and its causes. Other values are kept. */
function settleMessages(meta: Described, show: boolean, depth = 6): Meta {
  const { cause } = meta;
  const isDescribed = depth > 0 && typeof cause === "object" && cause !== null && !(cause instanceof Error);
  const settled = isDescribed ? settleMessages(cause as Described, show, depth - 1) : cause;
  if (settled === cause && !(kHiddenMessage in meta)) return meta;
  const { [kHiddenMessage]: message, ...rest } = meta;
  return {
    ...rest,
    ...(show && message !== undefined ? { message } : {}),
    ...(settled === undefined ? {} : { cause: settled }),
  };
}

/**
 * Wraps a logger so that its failures, thrown or rejected, are ignored: logging must not fail a request.
 * @param showMessages whether to show error messages that may contain values, for development @default false
 */
export function safeLogger(logger: Logger, showMessages = false): Logger {
  return mapLevels((level, message, meta) => {
    try {
      const shown = meta === undefined ? meta : settleMessages(meta, showMessages);
      const result: unknown = logger[level](message, shown);
      if (isPromiseLike(result)) void result.then(undefined, nothing);
    } catch {
      // There is no logger left to report it to.
    }
  });
}

function mapLevels(log: (level: Level, message: string, meta?: Readonly<Record<string, unknown>>) => void): Logger {
  return Object.freeze({
    debug: (message: string, meta?: Readonly<Record<string, unknown>>) => log("debug", message, meta),
    info: (message: string, meta?: Readonly<Record<string, unknown>>) => log("info", message, meta),
    warn: (message: string, meta?: Readonly<Record<string, unknown>>) => log("warn", message, meta),
    error: (message: string, meta?: Readonly<Record<string, unknown>>) => log("error", message, meta),
  });
}

let current: Logger = consoleLogger;

/** The process-wide default logger, used by apps without their own. */
export function getLogger(): Logger {
  return current;
}

/** Replaces the process-wide default logger. */
export function setLogger(logger: Logger): void {
  current = logger;
}

/** The origin of an error. */
interface Origin {
  readonly plugin: string;
  readonly hook: string;
}

const origins = new WeakMap<Error, Origin>();

/** Records the origin of an error for the log, unless it is already known. */
export function noteOrigin(error: Error, origin: Origin): void {
  if (!origins.has(error)) origins.set(error, origin);
}

/**
 * Describes an error for the log: name, code, stack frames, and the plugin and hook that it came from. A message that
 * is not a Keelson error's may contain values, as those of an ORM do. It is stored under a symbol, and an app's logger
 * shows it outside production only.
 * @param causes the maximum number of causes to follow, since causes may be circular
 */
export function describeError(error: unknown, causes = 5): Record<string, unknown> {
  if (!(error instanceof Error))
    return { error: typeof error, ...(typeof error === "string" ? { [kHiddenMessage]: error } : {}) };
  const { name } = error;
  const { code, sqlState } = error as { readonly code?: unknown; readonly sqlState?: unknown };
  const frames = stackFrames(error);
  return {
    error: name,
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof sqlState === "string" ? { sqlState } : {}),
    ...(isKeelsonError(error) ? { message: error.message } : { [kHiddenMessage]: error.message }),
    ...origins.get(error),
    ...(frames.length === 0 ? {} : { stack: frames.slice(0, 12) }),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: describeError(error.cause, causes - 1) }),
  };
}

/**
 * The stack frames of an error, without its message: a stack begins with the message, whose lines may look like frames.
 */
function stackFrames({ stack = "", message }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return []; // the message was changed, so its end in the stack is unknown
  return stack
    .slice(start + message.length)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
