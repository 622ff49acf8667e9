import { createPlugin, endpoint, memoryDriver } from "keelson";
import { createTestApp } from "keelson/testing";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { z } from "zod";

const reports = createPlugin({
  id: "acme/reports",
  endpoints: {
    year: endpoint("/reports/:year", {
      rules: ["everyone"],
      params: z.object({ year: z.coerce.number().int().min(2_000) }),
      handler({ params }) {
        expectTypeOf(params).toEqualTypeOf<{ year: number }>();
        return { next: params.year + 1 };
      },
    }),
    order: endpoint("/orders", {
      method: "POST",
      rules: ["everyone"],
      body: z.object({ lines: z.array(z.object({ product: z.string(), count: z.number().int().positive() })).min(1) }),
      async handler({ body }) {
        const { lines } = await body();
        expectTypeOf(lines).toEqualTypeOf<{ product: string; count: number }[]>();
        return { count: lines.reduce((sum, line) => sum + line.count, 0) };
      },
    }),
    free: endpoint("/free/:word", {
      method: "POST",
      rules: ["everyone"],
      handler: async ({ params, body }) => ({ word: params.word, body: await body() }),
    }),
    closed: endpoint("/closed", {
      method: "POST",
      rules: ["admin"],
      body: z.object({ secret: z.string() }),
      handler: () => ({}),
    }),
  },
});

function boot() {
  const app = createTestApp({ entities: [], driver: memoryDriver(), plugins: [reports] });
  onTestFinished(() => app.close());
  return app.as(null);
}

describe("the schemas of an endpoint", () => {
  it("give the handler typed parameters, and refuse invalid ones with 400", async () => {
    const { request } = boot();
    expect((await request("GET", "/reports/2026")).body).toEqual({ next: 2_027 });
    const { status, body } = await request("GET", "/reports/soon");
    expect([status, body]).toMatchObject([400, { code: "VALIDATION_FAILED", errors: { year: expect.any(String) } }]);
  });

  it("give the handler a typed body, and name each invalid value by its path", async () => {
    const { request } = boot();
    const lines = [
      { product: "tea", count: 2 },
      { product: "cup", count: 1 },
    ];
    expect((await request("POST", "/orders", { lines })).body).toEqual({ count: 3 });
    const { status, body } = await request("POST", "/orders", { lines: [{ product: "tea", count: 0 }] });
    expect([status, Object.keys((body as { errors: object }).errors)]).toEqual([400, ["lines.0.count"]]);
    expect((await request("POST", "/orders", [])).status).toBe(400);
  });

  it("are optional", async () => {
    const { request } = boot();
    expect((await request("POST", "/free/hello", { any: 1 })).body).toEqual({ word: "hello", body: { any: 1 } });
  });

  it("are not read for a caller that the rules refuse", async () => {
    expect((await boot().request("POST", "/closed", { wrong: 1 })).status).toBe(401);
  });

  it("appear in the documentation, if the library describes them", async () => {
    const { body } = await boot().request("GET", "/openapi.json");
    const { paths } = body as { paths: Record<string, { post?: { requestBody?: unknown } }> };
    expect(paths["/orders"]?.post?.requestBody).toMatchObject({
      required: true,
      content: { "application/json": { schema: { type: "object", required: ["lines"] } } },
    });
  });

  it("may be of any library that follows Standard Schema", async () => {
    const even = {
      "~standard": {
        version: 1,
        validate: (value: unknown) =>
          typeof value === "number" && value % 2 === 0 ? { value } : { issues: [{ message: "must be even" }] },
      },
    } as const;
    const plugin = createPlugin({
      id: "acme/even",
      endpoints: {
        half: endpoint("/half", {
          method: "POST",
          rules: ["everyone"],
          body: even,
          handler: async ({ body }) => (await body()) / 2,
        }),
      },
    });
    const app = createTestApp({ entities: [], driver: memoryDriver(), plugins: [plugin] });
    onTestFinished(() => app.close());
    expect((await app.as(null).request("POST", "/half", 8)).body).toBe(4);
    expect((await app.as(null).request("POST", "/half", 7)).body).toMatchObject({ errors: { _: "must be even" } });
  });
});
