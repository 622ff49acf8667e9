import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServableApp } from "../../src/adapters/node/index.ts";
import { entity, keelson, memoryDriver, type Plugin } from "../../src/index.ts";
import { type RateLimitPolicy, rateLimit } from "../../src/plugins/rate-limit/index.ts";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let url = "";
let close: () => Promise<void>;

beforeAll(async () => {
  guide = openPage("guides/rate-limits");
  const { api } = await guide.load<{ api: ServableApp }>("shop.ts");
  ({ url, close } = await startApp(api));
});
afterAll(async () => {
  await close();
  guide.remove();
});
const login = (from: string) => request(url, "POST", "/api/members/login", { headers: { "x-forwarded-for": from } });

describe("docs/guides/rate-limits.md", () => {
  it("limits logins per address, and shows the headers of a refusal", async () => {
    for (let i = 0; i < 5; i++) expect((await login("192.0.2.1")).status).toBe(200);
    const { status, headers } = await login("192.0.2.1");
    expect(status).toBe(429);
    const shown = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(guide.text)?.[1] ?? "";
    const numberless = (text: string | null) =>
      text
        ?.replace(/([rt]=)\d+/g, "$1N")
        .split(", ")
        .sort();
    expect(numberless(headers.get("ratelimit-policy"))).toEqual(numberless(shown("RateLimit-Policy")));
    expect(numberless(headers.get("ratelimit"))).toEqual(numberless(shown("RateLimit")));
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await login("192.0.2.2")).status).toBe(200);
  });

  it("counts per tenant if users have one", async () => {
    const { perTenant } = await guide.load<{ perTenant: RateLimitPolicy }>("tenants.ts");
    const api = keelson({
      entities: [entity("note", {}).rules({ read: ["everyone"] })],
      driver: memoryDriver(),
      getUser: ({ headers }) => ({ id: "ann", tenant: headers.get("x-tenant") ?? undefined }),
      plugins: [rateLimit({ policies: [{ ...perTenant, limit: 1 }] })],
    });
    const status = async (tenant?: string) =>
      (await api.fetch(new Request("http://host/api/notes", { headers: tenant ? { "x-tenant": tenant } : {} }))).status;
    expect([await status("a"), await status("a"), await status("b")]).toEqual([200, 429, 200]);
    expect([await status(), await status()]).toEqual([200, 200]);
    await api.close();
  });

  it("counts in Redis", async () => {
    const { limitsIn } = await guide.load<{
      limitsIn(
        url: string,
        policies: readonly RateLimitPolicy[],
      ): Promise<{ client: { destroy(): void }; plugin: Plugin }>;
    }>("in-redis.ts");
    const name = `docs-${randomUUID().slice(0, 8)}`;
    const { client, plugin } = await limitsIn("redis://127.0.0.1:6379", [{ name, limit: 1, window: 60 }]);
    const api = keelson({ entities: [], driver: memoryDriver(), plugins: [plugin] });
    const status = async () => (await api.fetch(new Request("http://host/openapi.json"))).status;
    expect([await status(), await status()]).toEqual([200, 429]);
    await api.close();
    client.destroy();
  });
});
