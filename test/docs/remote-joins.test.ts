import { createRemoteJoiner, type Keelson, type RemoteService } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;

beforeAll(() => {
  guide = openPage("guides/remote-joins");
});
afterAll(() => guide.remove());

describe("docs/guides/remote-joins.md", () => {
  it("returns over HTTP what it says", async () => {
    const { api } = await guide.load<{ api: Keelson }>("shop.ts");
    const { url, close } = await startApp(api);
    const path = "/api/customers/ann?include=subscription.plan";
    const shown = JSON.parse(guide.text.match(/^```json\n([\s\S]*?)^```/m)?.[1] as string);
    const { createdAt: _, updatedAt: __, ...joined } = (await request(url, "GET", path, { token: "ann" })).json;
    expect(joined).toEqual(shown);
    expect((await request(url, "GET", path)).json.subscription).toBeNull();
    await close();
  });

  it("joins without an app", async () => {
    const { joined } = await guide.load<{ joined: unknown }>("stitch.ts");
    expect(joined).toMatchObject([{ name: "Ann", subscription: { id: "s1", title: "subscription s1" } }]);
  });

  it("shares only shared services", async () => {
    const { catalogue } = await guide.load<{ catalogue: RemoteService }>("staleIfError");
    expect(catalogue.shared).toEqual({ ttl: 60_000, max: 5_000, staleIfError: 600_000 });
    expect(catalogue.fetchByIds).toBeTypeOf("function");
  });

  it("lists the options with their defaults", () => {
    const rows = guide.text.split("\n").filter((row) => row.startsWith("| `"));
    const names = rows.map((row) => row.split("|")[1]?.trim().replaceAll("`", ""));
    expect(names).toEqual(["batchSize", "concurrency", "timeout", "maxRecordBytes", "cache", "breaker"]);
    for (const name of names) expect(() => createRemoteJoiner({ [name as string]: undefined })).not.toThrow();
  });
});
