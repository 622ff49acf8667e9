import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { type AppOptions, createApp, createPlugin, endpoint, type Plugin } from "../../../src/gate/index.ts";
import type { KernelRequest } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

/** Responds with the id of the caller, to any caller. */
const who = createPlugin({
  id: "who",
  hooks: { "route:authorize": (ask) => void (ask.allowed = true) },
  endpoints: { who: endpoint("/who", { handler: ({ scope }) => ({ id: scope.principal.user?.id ?? null }) }) },
});

const recogniser = (id: string, getUser: NonNullable<Plugin["getUser"]>): Plugin => createPlugin({ id, getUser });

function boot(plugins: readonly Plugin[], options: Partial<AppOptions> = {}) {
  return createApp({
    entities: [],
    driver: memoryDriver(),
    logger: recordingLogger(),
    plugins: [who, ...plugins],
    ...options,
  });
}

async function ask(plugins: readonly Plugin[], init: Partial<KernelRequest> = {}) {
  const kernel = boot(plugins);
  const { status, body } = await kernel.handle({ method: "GET", url: "/who", headers: {}, ...init });
  await kernel.close();
  return { status, id: JSON.parse(String(body)).id };
}

describe("a plugin with getUser", () => {
  it("authenticates callers by the request and the app's services", async () => {
    const plugin = recogniser("names", ({ headers }, { config }) => ({
      id: `${headers.get("x-name")} of ${config.apiPrefix}`,
    }));
    expect(await ask([plugin], { headers: { "x-name": "ann" } })).toEqual({ status: 200, id: "ann of /api" });
  });

  it("leaves callers anonymous when it returns null, and refuses an invalid identity", async () => {
    expect(await ask([recogniser("nobody", async () => null)])).toMatchObject({ status: 200, id: null });
    expect((await ask([recogniser("broken", () => ({ id: 7 }))])).status).toBe(401);
  });

  it("is 503 when it fails", async () => {
    const fails = recogniser("fails", () => Promise.reject(new TypeError("no")));
    expect((await ask([fails])).status).toBe(503);
  });

  it("is not called if the adapter has its own getUser", async () => {
    const plugin = recogniser("plugin", () => ({ id: "plugin" }));
    expect((await ask([plugin], { getUser: () => ({ id: "adapter" }) })).id).toBe("adapter");
  });

  it("keeps the app from starting next to another one", () => {
    const [one, two] = [recogniser("one", () => null), recogniser("acme/two", () => null)];
    expect(() => boot([one, two])).toThrow('by plugin "one" and plugin "acme/two"; only one of them can do that');
  });

  it("keeps the app from starting next to the configuration's getUser", () => {
    expect(() => boot([recogniser("one", () => null)], { getUser: () => null })).toThrow(
      'Callers are recognised by `getUser` of the configuration and plugin "one"; only one of them can do that',
    );
  });
});
