import { AbilityBuilder, createMongoAbility } from "@casl/ability";
import { entity, int, string } from "keelson";
import { createTestApp } from "keelson/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CaslOptions, casl } from "../src/index.ts";

const post = entity("post", { title: string, authorId: string, score: int.default(0), notes: string.optional() });
const audit = entity("audit", { text: string });

/** Everyone reads records with a score; authors change their own; editors see notes; only admins delete. */
const abilityFor: CaslOptions["abilityFor"] = (user) => {
  const { can, cannot, build } = new AbilityBuilder(createMongoAbility);
  const shown = ["title", "authorId", "score"];
  can("read", "post", shown, { score: { $gt: 0 } });
  if (user !== null) {
    can("read", "post", shown, { authorId: user.id });
    can(["create", "update"], "post", ["title", "authorId"], { authorId: user.id });
    cannot("update", "post", { score: { $gte: 100 } });
  }
  if (user?.role === "editor") can("read", "post");
  if (user?.role === "admin") can(["create", "read", "update", "delete"], "post");
  return build();
};

async function boot() {
  const app = createTestApp({
    entities: [post, audit],
    plugins: (defaults) => defaults.replace("rules", casl({ abilityFor })),
  });
  onTestFinished(() => app.close());
  const posts = app.api.asSystem().post;
  await posts.create({ id: "p1", title: "one", authorId: "ann", score: 5, notes: "weak" });
  await posts.create({ id: "p2", title: "two", authorId: "ann", score: 0 });
  await posts.create({ id: "p3", title: "three", authorId: "ben", score: 200 });
  return app;
}
const ids = (body: unknown): readonly string[] => (body as { readonly id: string }[]).map(({ id }) => id).sort();

describe("CASL in place of rules", () => {
  it("narrows lists, records and counts to what the ability lets the caller read", async () => {
    const app = await boot();
    const [anyone, ann] = [app.as(null), app.as({ id: "ann" })];
    expect(ids((await anyone.request("GET", "/api/posts")).body)).toEqual(["p1", "p3"]);
    expect(ids((await ann.request("GET", "/api/posts")).body)).toEqual(["p1", "p2", "p3"]);
    expect((await app.as({ id: "ben" }).request("GET", "/api/posts/p2")).status).toBe(403);
    expect(await app.api.as({ id: "ben" }).post.count()).toBe(2);
  });

  it("holds writes to conditions, and to rules that take away", async () => {
    const app = await boot();
    const [ann, ben] = [app.as({ id: "ann" }), app.as({ id: "ben" })];
    expect((await ann.request("PATCH", "/api/posts/p1", { title: "mine" })).status).toBe(200);
    expect((await ann.request("PATCH", "/api/posts/p3", { title: "mine" })).status).toBe(403);
    expect((await ben.request("PATCH", "/api/posts/p3", { title: "too good" })).status).toBe(403);
    expect((await ann.request("POST", "/api/posts", { title: "new", authorId: "ann" })).status).toBe(201);
    expect((await ann.request("POST", "/api/posts", { title: "new", authorId: "ben" })).status).toBe(403);
    expect((await ann.request("DELETE", "/api/posts/p1")).status).toBe(403);
    expect((await app.as({ id: "root", role: "admin" }).request("DELETE", "/api/posts/p1")).status).toBe(200);
  });

  it("shows the fields that the ability names, and filters by no other", async () => {
    const app = await boot();
    expect((await app.as(null).request("GET", "/api/posts/p1")).body).not.toHaveProperty("notes");
    expect((await app.as({ id: "eve", role: "editor" }).request("GET", "/api/posts/p1")).body).toHaveProperty("notes");
    expect((await app.as(null).request("GET", "/api/posts?notes=weak")).status).toBe(400);
  });

  it("denies entities that it says nothing about", async () => {
    const app = await boot();
    expect((await app.as(null).request("GET", "/api/audits")).status).toBe(401);
    expect((await app.as({ id: "ann" }).request("GET", "/api/audits")).status).toBe(403);
  });
});
