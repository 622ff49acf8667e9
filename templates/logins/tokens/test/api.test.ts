import { memoryDriver } from "keelson";
import { createTestApp } from "keelson/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import config from "../keelson.config.ts";

// In memory, and the tests say who calls: so without the plugin that reads tokens.
const app = createTestApp({ ...config, plugins: [], driver: memoryDriver() });
const anonymous = app.as(null);
const ann = app.as({ id: "ann" });
const bob = app.as({ id: "bob" });
const password = "correct horse battery";

beforeAll(async () => {
  for (const [id, name] of Object.entries({ ann: "Ann", bob: "Bob" }))
    await app.api.asSystem().user.create({ id, name, email: `${id}@mail.example`, password, phone: "555 0100" });
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
  it("sign up themselves, and cannot make themselves an admin", async () => {
    const input = { name: "Eve", email: "eve@mail.example", password, role: "admin" };
    const { status, body } = await anonymous.request("POST", "/api/users", input);
    expect(status).toBe(201);
    expect((await app.api.asSystem().user.get((body as { id: string }).id)).role).toBe("person");
  });

  it("show their phone to themselves only, and their password to no caller", async () => {
    const own = (await ann.request("GET", "/api/users/ann")).body as object;
    const others = (await bob.request("GET", "/api/users/ann")).body as object;
    expect(own).toMatchObject({ phone: "555 0100", email: "ann@mail.example" });
    expect(Object.keys(own)).not.toContain("password");
    expect(Object.keys(others)).not.toContain("phone");
    expect(Object.keys(others)).not.toContain("email");
  });

  it("get a token for the right password, and for no other", async () => {
    const login = (given: string) =>
      anonymous.request("POST", "/api/users/login", { email: "ann@mail.example", password: given });
    expect(await login(password)).toMatchObject({ status: 200, body: { token: expect.any(String) } });
    expect((await login("a wrong password")).status).toBe(401);
  });
});
