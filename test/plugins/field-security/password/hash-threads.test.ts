import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import {
  DEFAULT_CONCURRENCY,
  threadPoolSize,
} from "../../../../src/plugins/field-security/password/password-hasher.ts";

describe("the thread pool", () => {
  it.each([
    [undefined, Number(process.env.UV_THREADPOOL_SIZE ?? 4)],
    ["8", 8],
    ["1", 1],
    ["16 threads", 16],
    ["0", 1],
    ["", 1],
    ["many", 1],
    ["-2", 1024],
    ["5000", 1024],
  ])("has, with UV_THREADPOOL_SIZE=%j, %i threads", (setting, size) => {
    expect(threadPoolSize(setting)).toBe(size);
  });

  it("runs one hash per core, but keeps one thread free", () => {
    const most = Math.max(1, threadPoolSize() - 1);
    expect(DEFAULT_CONCURRENCY).toBe(Math.min(most, availableParallelism()));
  });
});
