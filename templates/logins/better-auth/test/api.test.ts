import { keelson, memoryDriver } from "keelson";
import { createTestApp } from "keelson/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import config from "../keelson.config.ts";

// In memory, and the tests say who calls: so without the plugin that reads sessions.
const app = createTestApp({ ...config, plugins: [], driver: memoryDriver() });
const anonymous = app.as(null);
const ann = app.as({ id: "ann" });
const bob = app.as({ id: "bob" });

beforeAll(async () => {
  for (const [id, name] of Object.entries({ ann: "Ann", bob: "Bob" }))
    await app.api.asSystem().user.create({ id, name, email: `${id}@mail.example` });
});
afterAll(() => app.close());

describe("tasks", () => {
  it("belong to the caller who creates them, and show to no other", async () => {
    const created = await ann.request("POST", "/api/tasks", { title: "  Water the plants " });
    expect(created).toMatchObject({ status: 201, body: { title: "Water the plants", done: false, ownerId: "ann" } });
    const { id } = created.body as { id: string };
    expect((await ann.request("GET", "/api/tasks")).body).toHaveLength(1);
    expect((await bob.request("GET", "/api/tasks")).body).toEqual([]);
    expect((await bob.request("DELETE", `/api/tasks/${id}`)).status).toBe(403);
    expect((await ann.request("POST", `/api/tasks/${id}/toggle-done`)).body).toEqual({ done: true });
  });

  it("need a login and a title", async () => {
    expect((await anonymous.request("GET", "/api/tasks")).status).toBe(401);
    expect(await ann.request("POST", "/api/tasks", { title: " " })).toMatchObject({
      status: 400,
      body: { code: "VALIDATION_FAILED", errors: { title: expect.any(String) } },
    });
  });
});

describe("users", () => {
  it("show their address to themselves only", async () => {
    expect((await ann.request("GET", "/api/users/ann")).body).toMatchObject({ email: "ann@mail.example" });
    expect(Object.keys((await bob.request("GET", "/api/users/ann")).body as object)).not.toContain("email");
  });

  it("sign up and in, are callers by their cookie, and cannot make themselves an admin", async () => {
    const api = keelson({ ...config, driver: memoryDriver() });
    const origin = `http://localhost:${process.env.PORT ?? 3000}`;
    const send = (path: string, body: object, headers: object = {}) => {
      const all = { "content-type": "application/json", origin, ...headers };
      return api.fetch(new Request(origin + path, { method: "POST", headers: all, body: JSON.stringify(body) }));
    };
    const eve = { name: "Eve", email: "eve@mail.example", password: "correct horse battery" };
    expect((await send("/auth/sign-up/email", { ...eve, role: "admin" })).status).toBe(200);
    const { headers } = await send("/auth/sign-in/email", eve);
    const cookie = headers.get("set-cookie")?.split(";")[0];
    const created = await send("/api/tasks", { title: "Water the plants" }, { cookie });
    const { ownerId } = (await created.json()) as { ownerId: string };
    expect(created.status).toBe(201);
    expect((await api.asSystem().user.get(ownerId)).role).toBe("user");
    expect((await send("/auth/sign-in/email", { ...eve, password: "a wrong password" })).status).toBe(401);
    await api.close();
  });
});
