import { afterAll, beforeAll, expect, it } from "vitest";
import {
  action,
  archiveAction,
  bool,
  cloneAction,
  defineRule,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  string,
  toggleAction,
} from "../../../src/index.ts";

const everyone = ["everyone"] as const;
const mine = defineRule("mine", ({ user }) => ({ name: user?.id ?? "" }));
const looks = defineRule("looks", ({ record }) => record?.name === "open");

const note = entity("note", { name: string })
  .rules({ read: everyone, create: everyone })
  .actions({
    sweep: action()
      .rules("mine")
      .handler(() => ({})),
    sum: action()
      .rules("everyone")
      .handler(() => ({})),
  });
const closed = entity("closed", { flag: bool.default(false) })
  .rules({ update: everyone })
  .actions({ toggle: toggleAction("flag") });
const locked = entity("locked", { archived: bool.default(false).writable("admin") })
  .rules({ read: everyone, update: everyone })
  .actions({ archive: archiveAction, toggle: toggleAction("archived") });
const seen = entity("seen", { name: string })
  .rules({ read: [looks], create: everyone })
  .actions({ clone: cloneAction() });

const api = keelson({
  entities: [note, closed, locked, seen],
  driver: memoryDriver(),
  logger: noopLogger,
  production: false,
  rules: [mine, looks],
  getUser: ({ headers }) => ({ id: "ann", role: headers.get("x-role") ?? "person" }),
});
beforeAll(() => api.ready);
afterAll(() => api.close());

async function postsFor(role: string): Promise<readonly string[]> {
  const answer = await api.fetch(new Request("http://host.invalid/openapi.json", { headers: { "x-role": role } }));
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths)
    .filter(([, methods]) => "post" in methods)
    .map(([path]) => path);
}

it("lists an action only for callers who could ever use it", async () => {
  await api.asSystem().seen.create({ id: "s", name: "open" });
  const forPerson = await postsFor("person");
  expect(forPerson).toContain("/api/notes/sum");
  expect(forPerson).not.toContain("/api/notes/sweep");
  expect(forPerson.filter((path) => /closed|locked/.test(path))).toEqual([]);
  expect(await postsFor("admin")).toEqual(
    expect.arrayContaining(["/api/lockeds/{id}/archive", "/api/lockeds/{id}/toggle-archived"]),
  );
});

it("lists a clone if records are read by rules that read them", async () => {
  expect(await postsFor("person")).toContain("/api/seens/{id}/clone");
  const clone = new Request("http://host.invalid/api/seens/s/clone", { method: "POST" });
  expect((await api.fetch(clone)).status).toBe(201);
});
