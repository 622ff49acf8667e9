import { keelson, type Logger, memoryDriver } from "keelson";
import { afterAll, describe, expect, it } from "vitest";
import { openPage } from "../support/page.ts";

const guide = openPage("guides/logging");
afterAll(() => guide.remove());

describe("docs/guides/logging.md", () => {
  it("swaps pino's arguments, so that an app can log to it", async () => {
    const { fromPino } = await guide.load<{ fromPino(pino: unknown): Logger }>("fromPino");
    const lines: unknown[] = [];
    /** Shaped like pino: methods that need their object, the fields first and the message second. */
    const pino = {
      lines,
      debug(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["debug", ...args]);
      },
      info(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["info", ...args]);
      },
      warn(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["warn", ...args]);
      },
      error(this: { lines: unknown[] }, ...args: unknown[]) {
        this.lines.push(["error", ...args]);
      },
    };
    const logger = fromPino(pino);
    for (const level of ["debug", "info", "warn", "error"] as const) logger[level](`a ${level}`, { level });
    logger.info("alone");
    expect(lines).toEqual([
      ["debug", { level: "debug" }, "a debug"],
      ["info", { level: "info" }, "a info"],
      ["warn", { level: "warn" }, "a warn"],
      ["error", { level: "error" }, "a error"],
      ["info", {}, "alone"],
    ]);
    const api = keelson({ entities: [], driver: memoryDriver(), logger });
    api.log.warn("from the app");
    expect(lines.at(-1)).toEqual(["warn", {}, "from the app"]);
    await api.close();
  });
});
