import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  defineRule,
  entity,
  httpService,
  type Keelson,
  keelson,
  memoryDriver,
  noopLogger,
  type RemoteService,
  string,
} from "../../src/index.ts";
import { jwtAuth } from "../../src/plugins/jwt-auth/index.ts";
import { listServer } from "../plugins/remote-joins/list-server.ts";
import { request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";

const guide = openPage("guides/remote-services");
afterAll(() => guide.remove());

const secret = "a secret of this test, long enough";

/** The remote side: subscriptions for services with a valid token. */
async function serveBilling(): Promise<string> {
  const service = defineRule("service of the guide", ({ user }) => user?.role === "service");
  const api = keelson({
    entities: [entity("subscription", { status: string }).rules({ read: [service] })],
    driver: memoryDriver({ subscription: [{ id: "s1", status: "active" }] }),
    plugins: [jwtAuth({ secret, issuer: "https://shop.example", audience: "billing" })],
    logger: noopLogger,
  });
  return `${await serve(api)}/api`;
}

async function serve(api: Keelson): Promise<string> {
  const { url, close } = await startApp(api);
  onTestFinished(close);
  return url;
}

describe("docs/guides/remote-services.md", () => {
  it("joins records of an API that authenticates this app by its tokens", async () => {
    vi.stubEnv("BILLING_SECRET", secret);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { createShop } = await guide.load<{ createShop(baseUrl: string): Keelson }>("createShop");
    const url = await serve(createShop(await serveBilling()));
    const path = "/api/customers/ann?include=subscription";
    const known = await request(url, "GET", path, { token: "ann" });
    expect(known.json).toMatchObject({ name: "Ann", subscription: { id: "s1", status: "active" } });
    const unknown = await request(url, "GET", path);
    expect([unknown.status, unknown.json.subscription, unknown.headers.get("x-remote-errors")]).toEqual([
      200,
      null,
      null,
    ]);
  });

  it("forwards the named headers, to the named path", async () => {
    const { invoices } = await guide.load<{ invoices(baseUrl: string): RemoteService }>("export const invoices");
    const { baseUrl, targets, headers } = await listServer();
    const given: Record<string, string> = { authorization: "Bearer ann", cookie: "session=ann", "x-request-id": "7" };
    const caller = { user: null, header: (name: string) => given[name] };
    expect(await invoices(baseUrl).fetchByIds("invoice", ["a"], { caller })).toEqual([{ id: "a" }]);
    expect(targets).toEqual(["/api/v2/bills?id=a&_total=none"]);
    expect(headers[0]).toMatchObject({ authorization: "Bearer ann", "x-request-id": "7" });
    expect(headers[0]).not.toHaveProperty("cookie");
  });

  it("names every option", () => {
    const named = [...guide.text.matchAll(/^\| `(\w+)` \| /gm)].map(([, name]) => name as string);
    const options = Object.fromEntries(named.filter((name) => name !== "baseUrl").map((name) => [name, undefined]));
    expect(() => httpService({ ...options, baseUrl: "http://billing.example" })).not.toThrow();
    expect(named).toEqual(["baseUrl", "paths", "headers", "forward", "timeout", "maxBytes", "shared"]);
  });
});
