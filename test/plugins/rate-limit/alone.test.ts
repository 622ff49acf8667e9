import { createPlugin, endpoint, memoryDriver } from "keelson";
import { rateLimit } from "keelson/rate-limit";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const ping = createPlugin({
  id: "ping",
  endpoints: { ping: endpoint("/ping", { rules: ["everyone"], handler: () => ({ pong: true }) }) },
});
const few = { name: "few", limit: 2, window: 60, by: "caller" as const };

async function boot(options: Parameters<typeof rateLimit>[0]) {
  const kernel = createFakeKernel().withDriver(memoryDriver());
  await kernel.use(ping);
  return kernel.use(rateLimit(options));
}

describe("rateLimit alone", () => {
  it("adds hooks around requests, and nothing else", async () => {
    const { seen, close } = await boot({});
    expect(seen.hooks).toEqual(["request:end", "request:start", "route:around"]);
    expect(seen).toMatchObject({ services: [], routes: ["GET /ping"], requires: [], problems: [] });
    await close();
  });

  it("refuses a caller who has used up a limit, and no other", async () => {
    const kernel = (await boot({ policies: [few] })).as({ id: "ann" });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await kernel.call("GET", "/ping")).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await kernel.as({ id: "bob" }).call("GET", "/ping")).status).toBe(200);
    await kernel.close();
  });

  it("does not start with invalid options", async () => {
    await expect(boot({ policies: [{ ...few, limit: 0 }] })).rejects.toThrow("`limit` must be a whole number");
    await expect(boot({ polices: [few] } as never)).rejects.toThrow('Did you mean "policies"?');
  });
});
