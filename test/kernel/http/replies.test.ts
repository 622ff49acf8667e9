import { afterAll, describe, expect, it } from "vitest";
import { action, entity, InternalError, keelson, memoryDriver, noopLogger, Reply, string } from "../../../src/index.ts";
import { startApp } from "../../support/http.ts";

const STATUSES: Readonly<Record<string, unknown>> = {
  s99: 99,
  s101: 101,
  s199: 199,
  s600: 600,
  s1000: 1_000,
  half: 200.5,
  text: "201",
  none: Number.NaN,
};

const task = entity("task", { title: string })
  .rules({ create: ["everyone"] })
  .actions({
    ...Object.fromEntries(
      Object.entries(STATUSES).map(([name, status]) => [
        name,
        action().handler(({ json }) => json({ some: "body" }, status as number)),
      ]),
    ),
    moved: action().handler(({ redirect }) => redirect("/elsewhere", 99)),
    reset: action().handler(({ json }) => json({ some: "body" }, 205)),
    teapot: action().handler(({ json }) => json({ some: "body" }, 418)),
  });
const api = keelson({ entities: [task], driver: memoryDriver(), logger: noopLogger });
const app = await startApp(api);
afterAll(() => app.close());

describe("a response", () => {
  it.each([...Object.keys(STATUSES), "moved"])("with an invalid status is a 500: %s", async (name) => {
    const request = new Request(`http://test.invalid/api/tasks/${name}`, { method: "POST" });
    const response = await api.fetch(request);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([500, "INTERNAL"]);
    const served = await fetch(`${app.url}/api/tasks/${name}`, { method: "POST" });
    expect(served.status).toBe(500);
    await served.arrayBuffer();
  });

  it("may have any other status, and no body if the status forbids it", async () => {
    const post = (name: string) => api.fetch(new Request(`http://test.invalid/api/tasks/${name}`, { method: "POST" }));
    expect((await post("teapot")).status).toBe(418);
    const reset = await post("reset");
    expect([reset.status, await reset.text()]).toEqual([205, ""]);
  });

  it("reports an invalid status to the code that creates it", () => {
    expect(() => new Reply(99)).toThrow(InternalError);
    expect(() => new Reply(99)).toThrow(/200 to 599/);
    expect(new Reply(599).status).toBe(599);
  });
});
