import { memoryDriver } from "keelson";
import { telemetry } from "keelson/telemetry";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const boot = () => createFakeKernel().withDriver(memoryDriver());

describe("telemetry alone", () => {
  it("provides a tracer, and observes requests", async () => {
    const kernel = await boot().use(telemetry());
    expect(kernel.seen).toMatchObject({
      services: ["kernel.tracer"],
      hooks: ["request:end"],
      routes: [],
      problems: [],
    });
    await kernel.close();
  });

  it("reads callers only when their ids are recorded", async () => {
    const kernel = await boot().use(telemetry({ userId: true }));
    expect(kernel.seen.hooks).toEqual(["request:end", "route:around"]);
    await kernel.close();
  });

  it("does not start with unknown options", async () => {
    await expect(boot().use(telemetry({ userID: true } as never))).rejects.toThrow('Did you mean "userId"?');
    await expect(boot().use(telemetry({ metrics: 1 } as never))).rejects.toThrow("`metrics` is true or false");
  });
});
