import { describe, expect, it } from "vitest";
import { createApp } from "../../src/gate/index.ts";
import { entity, memoryDriver, noopLogger, string } from "../../src/index.ts";

describe("a kernel without plugins", () => {
  const boot = () =>
    createApp({
      entities: [entity("thing", { name: string })],
      driver: memoryDriver(),
      plugins: [],
      logger: noopLogger,
    });

  it("starts, responds with 404 to everything, and stops", async () => {
    const kernel = boot();
    await kernel.ready;
    expect(kernel.routes).toEqual([]);
    for (const url of ["/", "/api", "/api/things", "/health/live"]) {
      expect((await kernel.fetch(new Request(`http://host.invalid${url}`))).status).toBe(404);
    }
    await kernel.close();
  });

  it("denies every operation, since no plugin allowed it", async () => {
    const kernel = boot();
    const things = kernel.as({ id: "u1", role: "admin" }).thing;
    await expect(things?.list()).rejects.toMatchObject({ status: 403 });
    await expect(things?.create({ name: "x" } as never)).rejects.toMatchObject({ status: 403 });
    await expect(things?.delete("1")).rejects.toMatchObject({ status: 403 });
    await kernel.close();
  });
});
