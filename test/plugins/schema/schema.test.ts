import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { ConfigurationError, entity, string } from "../../../src/entity/index.ts";
import { type App, createApp, type Driver, type DriverSchema, withMiddleware } from "../../../src/gate/index.ts";
import { noopLogger } from "../../../src/kernel/index.ts";
import { schema } from "../../../src/plugins/schema/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

const note = entity("note", { text: string });

/** A database that differs from the definitions, and records its calls. */
function differing(mode: DriverSchema["mode"], differences: readonly string[], calls: string[]): Driver {
  return withMiddleware(memoryDriver(), (statement, next) => next(statement), {
    schema: {
      mode,
      async push() {
        calls.push("push");
        return { changed: differences.length > 0 };
      },
      async pending() {
        calls.push("pending");
        return differences;
      },
    },
  });
}

async function boot(driver: Driver, production: boolean, logger = noopLogger): Promise<App> {
  const kernel = createApp({ entities: [note], driver, plugins: [schema()], production, logger });
  await kernel.ready;
  return kernel;
}

describe("schema", () => {
  it("pushes definitions outside production and logs that it did", async () => {
    const calls: string[] = [];
    const log = recordingLogger();
    await (await boot(differing("auto", ["table note is missing"], calls), false, log)).close();
    expect(calls).toEqual(["push"]);
    expect(log.lines.filter((line) => line.startsWith("info"))).toEqual([
      'info The tables were changed to fit the entities {"driver":"memory"}',
    ]);
  });

  it("logs nothing when there was nothing to change", async () => {
    const log = recordingLogger();
    await (await boot(differing("auto", [], []), false, log)).close();
    expect(log.lines.filter((line) => line.startsWith("info"))).toEqual([]);
  });

  it("changes nothing in production and starts if nothing differs", async () => {
    const calls: string[] = [];
    await (await boot(differing("auto", [], calls), true)).close();
    expect(calls).toEqual(["pending"]);
  });

  it("refuses to start in production if something differs, naming each difference", async () => {
    const calls: string[] = [];
    const kernel = createApp({
      entities: [note],
      driver: differing("auto", ["table note is missing", "column note.text is missing"], calls),
      plugins: [schema()],
      production: true,
      logger: noopLogger,
    });
    const error: unknown = await kernel.ready.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toEqual([
      "The database does not fit the entities: table note is missing",
      "The database does not fit the entities: column note.text is missing. Before the app starts, run: keelson migrate deploy",
    ]);
    expect(calls).toEqual(["pending"]);
    await kernel.close();
  });

  it.each([true, false])("does nothing when it is off (production: %s)", async (production) => {
    const calls: string[] = [];
    await (await boot(differing("off", ["table note is missing"], calls), production)).close();
    expect(calls).toEqual([]);
  });

  it("ignores drivers without tables", async () => {
    await (await boot(memoryDriver(), true)).close();
  });
});
