import { describe } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import { createApp, createPlugin } from "../../src/gate/index.ts";
import { noopLogger } from "../../src/kernel/index.ts";
import { rules } from "../../src/plugins/rules/index.ts";
import { createFakeKernel } from "../../src/testing/fake-kernel.ts";
import { contractEntities, testKernelContract } from "../support/kernel-contract.ts";

describe("the real kernel", () => {
  testKernelContract(memoryDriver, async ({ plugins, driver, user }) => {
    // The fake kernel lets the test stand in for the rules; here plugins do.
    const decided = plugins.some(({ id }) => id === "watcher");
    const open = createPlugin({
      id: "open-door",
      hooks: decided ? {} : { "operation:authorize": (operation) => void (operation.decision.allowed = true) },
    });
    const kernel = createApp({
      entities: contractEntities,
      driver,
      plugins: [open, ...(plugins.some(({ id }) => id === "open") ? [] : [rules()]), ...plugins],
      logger: noopLogger,
      getUser: () => user ?? null,
    });
    await kernel.ready;
    return {
      async call(method, path, body) {
        const json = body === undefined ? {} : { body: { kind: "parsed" as const, value: body } };
        const headers = { "content-type": "application/json" };
        const reply = await kernel.handle({ method, url: path, headers, ...json });
        return { ...reply, body: typeof reply.body === "string" ? JSON.parse(reply.body) : null };
      },
      close: () => kernel.close(),
    };
  });
});

describe("the fake kernel", () => {
  testKernelContract(memoryDriver, async ({ plugins, driver, user }) => {
    const kernel = createFakeKernel()
      .withEntities(...contractEntities)
      .withDriver(driver)
      .as(user ?? null);
    for (const plugin of plugins) await kernel.use(plugin);
    return { call: (method, path, body) => kernel.call(method, path, { body }), close: () => kernel.close() };
  });
});
