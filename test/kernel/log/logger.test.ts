import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  consoleLogger,
  createPrefixedLogger,
  describeError,
  getLogger,
  noopLogger,
  safeLogger,
  setLogger,
} from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { thenable } from "../../support/thenable.ts";

const levels = ["debug", "info", "warn", "error"] as const;

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  setLogger(consoleLogger);
});

describe("consoleLogger", () => {
  it("writes a line per message to standard error, with its metadata", () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    for (const level of levels) consoleLogger[level]("hello", { n: 1n });
    const lines = write.mock.calls.map(([line]) => String(line));
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z INFO hello \{"n":"1"\}\n$/);
    vi.stubEnv("KEELSON_DEBUG", "1");
    consoleLogger.debug("seen");
    expect(String(write.mock.calls.at(-1)?.[0])).toMatch(/DEBUG seen\n$/);
  });
});

describe("loggers", () => {
  it("write nothing, or put a prefix before their messages", () => {
    const log = recordingLogger();
    for (const level of levels) {
      noopLogger[level]("nothing");
      createPrefixedLogger("mail", log)[level]("sent");
    }
    expect(log.lines).toEqual(levels.map((level) => `${level} [mail] sent`));
  });

  it("never fail the code that they log for", async () => {
    const throws = () => {
      throw new TypeError("disk full");
    };
    const rejects = (): never => Promise.reject(new TypeError("disk full")) as never;
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const fails = (): never => thenable((_resolve, reject) => reject(new TypeError("disk full"))) as never;
    const log = safeLogger({ debug: throws, info: rejects, warn: fails, error: rejects });
    for (const level of levels) expect(() => log[level]("x")).not.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each([true, false])("get messages that may quote values only if these may be shown: %s", (shown) => {
    const said: string[] = [];
    const write = (_message: string, meta?: unknown): void => void said.push(inspect(meta, { showHidden: true }));
    const log = safeLogger({ debug: write, info: write, warn: write, error: write }, shown);
    const secret = new TypeError("secret-1", { cause: new RangeError("secret-2") });
    log.error("failed", describeError(secret));
    const own = { cause: new TypeError("told") };
    log.error("told", own);
    for (const text of ["secret-1", "secret-2"]) expect(said[0]?.includes(text)).toBe(shown);
    expect(said[1]).toBe(inspect(own, { showHidden: true }));
  });

  it("have a process-wide default that can be replaced", () => {
    expect(getLogger()).toBe(consoleLogger);
    setLogger(noopLogger);
    expect(getLogger()).toBe(noopLogger);
  });
});
