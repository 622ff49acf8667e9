import { entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { recordingLogger } from "keelson/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type JobsOptions, jobs } from "../src/index.ts";

const note = entity("note", { text: string }).rules({ read: ["admin"] });

function boot(given: JobsOptions["jobs"], driver = memoryDriver(), logger = noopLogger) {
  const api = keelson({ entities: [note], driver, logger, plugins: [jobs({ jobs: given })] });
  onTestFinished(() => api.close());
  return api;
}

describe("jobs", () => {
  it("run with the system's rights, again and again", async () => {
    const api = boot({
      add: { every: 1, run: async (_scope, { note: notes }) => notes?.create({ text: "made" } as never) },
    });
    await vi.waitFor(async () => expect(await api.asSystem().note.count()).toBeGreaterThan(1), 5_000);
  });

  it("run in one of several processes at a time", async () => {
    const driver = memoryDriver();
    let running = 0;
    let most = 0;
    let runs = 0;
    const run = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 3));
      running -= 1;
      runs += 1;
    };
    for (let i = 0; i < 4; i++) boot({ shared: { every: 1, run } }, driver);
    await vi.waitFor(() => expect(runs).toBeGreaterThan(5), 5_000);
    expect(most).toBe(1);
  });

  it("wait for the next time when the last run was not long ago", async () => {
    let runs = 0;
    const api = boot({ rare: { every: 3_600_000, run: async () => void runs++ } });
    await vi.waitFor(() => expect(runs).toBe(1), 5_000);
    await api.close();
    expect(runs).toBe(1);
  });

  it("that fail are logged, and run again", async () => {
    const logger = recordingLogger();
    let runs = 0;
    const run = async (): Promise<void> => {
      runs += 1;
      throw new Error("out of paper");
    };
    boot({ print: { every: 1, run } }, memoryDriver(), logger);
    await vi.waitFor(() => expect(runs).toBeGreaterThan(1), 5_000);
    expect(logger.lines.join("\n")).toContain("out of paper");
  });

  it("end before the app has closed", async () => {
    let isDone = false;
    let begun: () => void = () => {};
    const started = new Promise<void>((resolve) => (begun = resolve));
    const run = async (): Promise<void> => {
      begun();
      await new Promise((resolve) => setTimeout(resolve, 20));
      isDone = true;
    };
    const api = boot({ slow: { every: 1, run } });
    await started;
    await api.close();
    expect(isDone).toBe(true);
  });

  it("are refused without a time, and without any job", () => {
    expect(() => boot({})).toThrow("there are no jobs");
    expect(() => boot({ odd: { every: 0, run: async () => {} } })).toThrow('"odd" needs `every`');
  });
});
