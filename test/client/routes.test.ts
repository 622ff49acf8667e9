import { entity, keelson, memoryDriver, pluralize, string } from "keelson";
import { clientRoutes, createClient } from "keelson/client";
import { routeSegment } from "keelson/plugin";
import { describe, expect, it, onTestFinished } from "vitest";
import { openShop } from "./shop.ts";

const segmentsOf = async (names: readonly string[]): Promise<string[]> => {
  const urls: string[] = [];
  const client = createClient<{ entities: Record<string, object> }>({
    baseUrl: "",
    async fetch(url) {
      urls.push(url);
      return Response.json([], { headers: { "x-total-count": "0" } });
    },
  });
  for (const name of names) await client[name]?.list();
  return urls.map((url) => url.slice(1));
};

describe("the path of an entity without a route in the client", () => {
  it("equals the server's for regular nouns", async () => {
    const names = `post user comment orderItem category company day key boy city box class status bus branch wish tax
      address invoice photo image file house page blogPost APIKey userAPIKey order_item line2 schema invoiceLine
      summary story display survey match search process subscription customer`.split(/\s+/);
    const served = names.map((name) => routeSegment(entity(name, { text: string }).build()));
    expect(await segmentsOf(names)).toEqual(served);
  });

  it("differs from the server's for irregular nouns, which need routes", async () => {
    expect(["person", "lens"].map(pluralize)).toEqual(["people", "lens"]);
    expect(await segmentsOf(["person", "lens"])).toEqual(["persons", "lenses"]);
  });
});

describe("the routes of an app", () => {
  it("are JSON with the paths of entities and actions, and their parameters", async () => {
    const { routes, close } = await openShop();
    onTestFinished(close);
    expect(JSON.parse(JSON.stringify(routes))).toEqual(routes);
    expect(routes).toMatchObject({
      person: { path: "people" },
      orderItem: {
        path: "order-items",
        actions: {
          softDelete: { method: "DELETE", path: "/:id/soft", query: [] },
          bulkDelete: { method: "DELETE", path: "/bulk" },
          export: { method: "GET", path: "/export", filters: true },
          greet: { method: "GET", path: "/greet", query: ["name", "at", "loud"] },
          reprice: { method: "POST", path: "/:id/reprice", query: ["dry"], input: ["price", "from"] },
          echo: { method: "POST", path: "/echo" },
        },
      },
    });
    expect(JSON.stringify(routes)).not.toContain("everyone");
  });

  it("omit entities without routes, and the API's prefix", async () => {
    const api = keelson({
      entities: [entity("secret", { text: string }).internal(), entity("note", { text: string })],
      driver: memoryDriver(),
      apiPrefix: "/v1/api",
    });
    onTestFinished(() => api.close());
    expect(clientRoutes(api)).toEqual({ note: { path: "notes" } });
  });
});
