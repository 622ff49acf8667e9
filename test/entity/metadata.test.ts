import { action, archiveAction, belongsTo, bool, decimal, entity, int, keelson, memoryDriver, string } from "keelson";
import { createPlugin, type Route } from "keelson/plugin";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";

declare module "keelson/plugin" {
  interface Metadata {
    "acme/cost": number;
    "acme/label": string;
  }
}

const author = entity("author", { name: string.meta("acme/label", "Name").meta("acme/cost", 2) });
const post = entity("post", {
  title: string.max(20).meta("acme/label", "Title").min(1),
  secret: string.meta("acme/label", "Secret").readable("admin").optional(),
  pages: int.meta("acme/cost", 1).optional(),
  price: decimal(6, 2).meta("acme/cost", 3).optional(),
  archived: bool.default(false),
  author: belongsTo(() => author)
    .optional()
    .meta("acme/label", "Author"),
})
  .meta("acme/label", "Post")
  .rules({ read: ["everyone"] })
  .actions({
    publish: action()
      .meta("acme/cost", 5)
      .meta({ summary: "Publish" })
      .handler(() => ({})),
    archive: archiveAction().meta("acme/cost", 7),
    plain: { handler: () => ({}), meta: { "acme/cost": 9 } },
  });

const seen: (readonly [string, unknown])[] = [];
/** Adds up the cost of routes, and reports it in a header. */
const costs = createPlugin({
  id: "acme/costs",
  setup({ routes, hooks, entities }) {
    const costOf = ({ meta }: Route): number | undefined => meta?.["acme/cost"];
    for (const one of routes.list()) seen.push([one.action, costOf(one)]);
    for (const [name, { meta }] of Object.entries(entities.get("post")?.fields ?? {})) seen.push([name, meta]);
    hooks.on("request:end", ({ route, response }) => {
      const cost = route && costOf(route);
      if (cost !== undefined) response.headers["x-cost"] = String(cost);
    });
  },
});

const guide = openPage("guides/write-a-plugin");
let url = "";
let close: () => Promise<void>;
beforeAll(async () => {
  const { labels } = await guide.load<{ labels: typeof costs }>("labels.ts");
  const api = keelson({ entities: [author, post], driver: memoryDriver(), plugins: [costs, labels] });
  ({ url, close } = await startApp(api));
});
afterAll(async () => {
  await close();
  guide.remove();
});

describe("metadata of definitions", () => {
  it("is kept on fields, relations, entities and actions through later modifiers", () => {
    const { fields, relations, meta } = post.build();
    expect(fields.title).toMatchObject({ meta: { "acme/label": "Title" }, min: { value: 1 }, max: { value: 20 } });
    expect(author.build().fields.name?.meta).toEqual({ "acme/label": "Name", "acme/cost": 2 });
    expect(relations.author?.meta).toEqual({ "acme/label": "Author" });
    expect(meta).toEqual({ "acme/label": "Post" });
    expect([Object.isFrozen(meta), Object.isFrozen(fields.title?.meta), fields.archived?.meta]).toEqual([
      true,
      true,
      undefined,
    ]);
  });

  it("is read by plugins in setup", () => {
    const known = Object.fromEntries(seen);
    expect(known).toMatchObject({
      publish: 5,
      archive: 7,
      plain: 9,
      title: { "acme/label": "Title" },
      price: { "acme/cost": 3 },
    });
  });

  it("is read by plugins during requests, from the route of an action", async () => {
    const { status, headers } = await request(url, "POST", "/api/posts/publish");
    expect([status, headers.get("x-cost")]).toEqual([401, "5"]);
    expect((await request(url, "GET", "/api/posts")).headers.get("x-cost")).toBeNull();
  });

  it("gives the guide's plugin labels for the fields that a caller may read", async () => {
    const { json } = await request(url, "GET", "/labels/post");
    expect(json).toEqual({ label: "Post", fields: ["Title", "pages", "price", "archived"] });
    expect((await request(url, "GET", "/labels/none")).status).toBe(404);
  });
});
