import { afterAll, describe, expect, it } from "vitest";
import { createPlugin, endpoint, keelson, memoryDriver, noopLogger, notFoundError, Reply } from "../../../src/index.ts";
import type { RouteContext } from "../../../src/plugin.ts";

const HEADER = "x-on-the-way";

function noting(path: string, handler: (context: RouteContext) => unknown): ReturnType<typeof endpoint> {
  return endpoint(path, {
    rules: ["everyone"],
    handler(context) {
      const { exchange } = context.scope;
      if (exchange !== undefined) exchange.headers[HEADER] = exchange.request.method;
      return handler(context);
    },
  });
}

const plugin = createPlugin({
  id: "test/noting",
  endpoints: {
    plain: noting("/plain", () => ({ ok: true })),
    own: noting("/own", () => new Reply(200, {}, { [HEADER]: "its own" })),
    response: noting("/response", () => new Response("x")),
    failing: noting("/failing", () => {
      throw notFoundError("gone");
    }),
    inside: noting("/inside", ({ scope }) =>
      scope.transaction(async (inner) => ({
        same: inner.exchange === scope.exchange,
        aborted: inner.exchange?.signal?.aborted,
      })),
    ),
  },
});
const api = keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, plugins: [plugin] });
afterAll(() => api.close());

async function get(
  path: string,
): Promise<{ readonly status: number; readonly header: string | null; readonly body: string }> {
  const response = await api.fetch(new Request(`http://test.invalid${path}`));
  return { status: response.status, header: response.headers.get(HEADER), body: await response.text() };
}

describe("headers of an exchange", () => {
  it("are added to the response, of any kind", async () => {
    expect(await get("/plain")).toMatchObject({ status: 200, header: "GET" });
    expect(await get("/response")).toMatchObject({ status: 200, header: "GET", body: "x" });
  });

  it("do not override the response's own headers", async () => {
    expect((await get("/own")).header).toBe("its own");
  });

  it("are not set on an error", async () => {
    expect(await get("/failing")).toMatchObject({ status: 404, header: null });
  });

  it("belong to the request, and so to its transactions too", async () => {
    expect(JSON.parse((await get("/inside")).body)).toEqual({ same: true, aborted: false });
  });
});
