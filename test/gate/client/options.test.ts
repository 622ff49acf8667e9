import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countAction, entity, exportAction, keelson, memoryDriver, noopLogger, string } from "../../../src/index.ts";

// An unknown option would be ignored: a list with `filter` in place of `where` would return all records.

const note = entity("note", { text: string })
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] })
  .actions({ export: exportAction, tally: countAction });
const api = keelson({ entities: [note], driver: memoryDriver({ note: [{ id: "n", text: "a" }] }), logger: noopLogger });
beforeAll(() => api.ready);
afterAll(() => api.close());

type Calls = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
describe.each([
  ["a user", () => api.as({ id: "ann" }).note as unknown as Calls],
  ["the system", () => api.asSystem().note as unknown as Calls],
])("a client of %s refuses unknown options", (_, client) => {
  it.each<[string, readonly unknown[], string]>([
    ["list", [{ filter: { text: "a" } }], 'list() has no option "filter". It takes where, sort'],
    ["list", [{ wher: { text: "a" } }], 'Did you mean "where"?'],
    ["list", [{ sort: "text" }], 'The option "sort" of list() must be a list'],
    ["list", ["text"], "must be an object"],
    ["get", ["n", { includes: ["author"] }], 'Did you mean "include"?'],
    ["create", [{ text: "b" }, { include: ["author"] }], "It takes no options"],
    ["update", ["n", { text: "b" }, { version: 1 }], "It takes ifVersion"],
    ["delete", ["n", { ifversion: 1 }], 'Did you mean "ifVersion"?'],
    ["upsert", [{ text: "b" }, { on: "id", where: { text: "a" } }], "It takes on"],
    ["aggregate", [{ count: true, filter: { text: "a" } }], 'aggregate() has no option "filter"'],
    ["count", [{ where: { text: "a" } }], "where"],
    ["count", [{ text: "a" }, { deleted: "with" }], "It takes no options"],
    ["export", [{ filter: { text: "a" } }], 'no "filter"'],
    ["tally", [{ txet: "a" }], "txet"],
  ])("%s(%j)", async (method, args, message) => {
    const call = client()[method] as Calls[string];
    await expect(call(...args)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
    expect(await api.asSystem().note.count({ text: "a" })).toBe(1);
  });
});
