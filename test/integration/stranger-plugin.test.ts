import { afterAll, describe, expect, it } from "vitest";
import { archive, archiveLikeOurs, mineOrAdmin } from "../../examples/stranger-plugin/archive-plugin.ts";
import { archiveAction, belongsTo, bool, entity, keelson, memoryDriver, noopLogger, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

const user = entity("user", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });
const fields = { title: string, archived: bool.default(false), author: belongsTo(() => user) };
const access = (rule: string | { name: string }) => ({
  read: [rule],
  create: ["authenticated"],
  update: [rule],
  delete: [rule],
});
const ours = entity("our", fields).ownedBy("author").rules(access("ownerOrAdmin"));
const theirs = entity("their", fields).ownedBy("author").rules(access(mineOrAdmin));

const users = [
  { id: "ann", name: "Ann" },
  { id: "bob", name: "Bob" },
];
const rows = [
  { id: "a1", title: "Ann's", archived: false, authorId: "ann" },
  { id: "b1", title: "Bob's", archived: false, authorId: "bob" },
];

const app = createTestApp({
  entities: [user, ours, theirs],
  driver: memoryDriver({ user: users, our: structuredClone(rows), their: structuredClone(rows) }),
  plugins: [archive()],
  logger: noopLogger,
});
afterAll(() => app.close());

/** A response without the parts that differ between requests. */
function comparable(answer: { status: number; body: unknown }): unknown {
  return JSON.parse(
    JSON.stringify([answer.status, answer.body], (key, value) =>
      ["requestId", "createdAt", "updatedAt", "rules", "entity"].includes(key) ? undefined : value,
    ),
  );
}

describe("a third-party rule", () => {
  const callers = [null, { id: "ann" }, { id: "bob" }, { id: "root", role: "admin" }];
  const requests = [
    ["GET", ""],
    ["GET", "/a1"],
    ["GET", "/nope"],
    ["PUT", "/a1", { title: "New" }],
    ["PUT", "/b1", { title: "New" }],
    ["DELETE", "/nope"],
  ] as const;
  const table = callers.flatMap((caller) => requests.map(([method, path, body]) => ({ caller, method, path, body })));

  it.each(table)(
    "gives $caller for $method $path the same response as the built-in rule",
    async ({ caller, method, path, body }) => {
      const asOurs = await app.as(caller).request(method, `/api/ours${path}`, body);
      const asTheirs = await app.as(caller).request(method, `/api/theirs${path}`, body);
      expect(comparable(asTheirs)).toEqual(comparable(asOurs));
    },
  );
});

describe("a third-party action", () => {
  const attached = (name: string, archiving: Parameters<ReturnType<typeof ruled>["actions"]>[0]["archive"]) =>
    ruled(name).actions({ archive: archiving });
  const ruled = (name: string) => entity(name, fields).ownedBy("author").rules(access("ownerOrAdmin"));
  const prebuilt = attached("prebuilt", archiveAction);
  const rewritten = attached("rewritten", archiveLikeOurs);
  const both = createTestApp({
    entities: [user, prebuilt, rewritten],
    driver: memoryDriver({ user: users, prebuilt: structuredClone(rows), rewritten: structuredClone(rows) }),
    logger: noopLogger,
  });
  afterAll(() => both.close());

  it.each([
    [null, "a1"],
    [{ id: "ann" }, "a1"],
    [{ id: "ann" }, "a1"],
    [{ id: "bob" }, "a1"],
    [{ id: "bob" }, "nope"],
    [{ id: "root", role: "admin" }, "b1"],
  ])("gives %j for %s like the prebuilt action that it reimplements", async (caller, id) => {
    const ask = async (plural: string) => {
      const answer = await both.as(caller).request("POST", `/api/${plural}/${id}/archive`);
      const after = await both.as(caller).request("GET", `/api/${plural}/${id}`);
      return [comparable(answer), comparable(after)];
    };
    expect(await ask("rewrittens")).toEqual(await ask("prebuilts"));
  });

  it("passes through the gate like any other write", async () => {
    const post = (id: string | null, path: string) => app.as(id === null ? null : { id }).request("POST", path);
    expect((await post(null, "/api/ours/a1/archive")).status).toBe(401);
    expect((await post("bob", "/api/ours/a1/archive")).status).toBe(403);
    expect((await post("ann", "/api/ours/nope/archive")).status).toBe(404);
    expect(await post("ann", "/api/ours/a1/archive")).toMatchObject({ status: 200, body: { success: true } });
    expect((await app.api.as({ id: "ann" }).our.get("a1")).archived).toBe(true);
  });

  it("reports unsuitable entities when the app starts", () => {
    const boot = () =>
      keelson({ entities: [user], driver: memoryDriver(), logger: noopLogger, plugins: [archive({ field: "gone" })] });
    expect(boot).toThrow('archive: no entity has a field "gone"');
  });
});
