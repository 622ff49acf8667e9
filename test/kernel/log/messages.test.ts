import { describe, expect, it } from "vitest";
import type { HookName } from "../../../src/gate/index.ts";
import { createPlugin, entity, keelson, memoryDriver, string } from "../../../src/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { request, startApp } from "../../support/http.ts";

const note = entity("note", { title: string }).rules({ read: ["everyone"], create: ["everyone"] });

/** An app whose plugin `faulty` throws in a hook. */
async function logged(hook: HookName, production: boolean, isAsync = false): Promise<string[]> {
  const logger = recordingLogger();
  const cause = new Error("the value of the cause");
  const fail = () => {
    const error = new TypeError("the shelf is missing", { cause });
    if (isAsync) return Promise.reject(error);
    throw error;
  };
  const faulty = createPlugin({ id: "faulty", hooks: { [hook]: fail } });
  const api = keelson({ entities: [note], driver: memoryDriver(), plugins: [faulty], production, logger });
  const { url, close } = await startApp(api);
  await request(url, "POST", "/api/notes", { body: { title: "one" } });
  await close();
  return logger.lines.filter((line) => line.startsWith("error"));
}

describe("the log", () => {
  it.each(["operation:validate", "operation:committed", "request:end"] as const)(
    "contains an error's message in development, and whose %s threw it",
    async (hook) => {
      for (const isAsync of [false, true]) {
        const lines = await logged(hook, false, isAsync);
        expect(lines).toHaveLength(1);
        expect(lines[0]).toContain('"message":"the shelf is missing"');
        expect(lines[0]).toContain('"message":"the value of the cause"');
        expect(lines[0]).toContain('"plugin":"faulty"');
        expect(lines[0]).toContain(`"hook":"${hook}"`);
      }
    },
  );

  it("names plugin and hook in production, and repeats no message", async () => {
    const lines = await logged("operation:validate", true);
    expect(lines[0]).toContain('"plugin":"faulty","hook":"operation:validate"');
    expect(lines[0]).not.toMatch(/shelf|the value/);
  });
});
