import { describe, expect, it } from "vitest";
import { serializeListQuery } from "../../../src/client/index.ts";
import {
  ConfigurationError,
  datetime,
  type EntityLike,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
} from "../../../src/index.ts";

/** Mistakes that keep a definition from being built. */
function problemsOf(build: () => unknown): readonly string[] {
  try {
    build();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
  return [];
}

/** Mistakes that keep an app from starting. */
async function startProblems(
  entities: readonly EntityLike[],
  without: readonly string[] = [],
): Promise<readonly string[]> {
  try {
    const api = keelson({
      entities,
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: (defaults) => without.reduce((list, id) => list.without(id), defaults),
    });
    await api.ready;
    await api.close();
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
}

describe(".softDelete()", () => {
  const note = entity("note", { title: string, deletedAt: datetime.optional(), goneAt: datetime.optional() });

  it("names the field (default: deletedAt), which callers then cannot write", () => {
    const plain = note.build();
    const soft = note.softDelete().build();
    const gone = note.softDelete("goneAt").build();
    expect([plain.softDelete, soft.softDelete, gone.softDelete]).toEqual([
      undefined,
      { field: "deletedAt" },
      { field: "goneAt" },
    ]);
    expect([plain.fields.deletedAt?.readonly, soft.fields.deletedAt?.readonly]).toEqual([false, true]);
    expect([gone.fields.deletedAt?.readonly, gone.fields.goneAt?.readonly]).toEqual([false, true]);
    expect(soft.columns.deletedAt?.field).toBe(soft.fields.deletedAt);
    expect(Object.isFrozen(soft.softDelete) && Object.isFrozen(soft.fields.deletedAt)).toBe(true);
  });

  it.each([
    ["nobody declares", entity("note", { title: string })],
    ["is no datetime", entity("note", { deletedAt: string.optional() })],
    ["is required", entity("note", { deletedAt: datetime })],
    ["is encrypted", entity("note", { deletedAt: datetime.optional().encrypted() })],
  ])("is refused for a field that %s", (_what, wrong) => {
    expect(problemsOf(() => wrong.softDelete().build())).toEqual([
      'note.softDelete("deletedAt") needs a field deletedAt: datetime.optional(), not encrypted',
    ]);
  });

  it("is refused for a field with a default, which would delete new records", () => {
    const wrong = entity("note", { deletedAt: datetime.optional().default(() => new Date()) });
    expect(problemsOf(() => wrong.softDelete().build())[0]).toMatch(/a field with a default would delete records/);
    expect(problemsOf(() => note.softDelete("toString").build())).toHaveLength(1);
  });

  it("needs a plugin that hides deleted records", async () => {
    const problems = await startProblems([note.softDelete()], ["actions"]);
    expect(problems).toEqual(['note.softDelete(), but no plugin in the list provides "soft-delete"']);
    expect(await startProblems([note.softDelete()])).toEqual([]);
    expect(await startProblems([note], ["actions"])).toEqual([]);
  });

  it("accepts actions on its own field only", async () => {
    const soft = note.softDelete("goneAt");
    expect(await startProblems([soft.actions({ remove: softDeleteAction, restore: restoreAction() })])).toEqual([]);
    expect(await startProblems([soft.actions({ remove: softDeleteAction("goneAt") })])).toEqual([]);
    expect(
      await startProblems([soft.actions({ remove: softDeleteAction("deletedAt"), restore: restoreAction("nope") })]),
    ).toEqual([
      'action "remove" of note: works on "deletedAt", but records are deleted by "goneAt", as .softDelete() says',
      'action "restore" of note: works on "nope", but records are deleted by "goneAt", as .softDelete() says',
    ]);
  });

  it("leaves the actions of entities without it as they are", async () => {
    const actions = { remove: softDeleteAction, back: restoreAction("goneAt") };
    expect(await startProblems([note.actions(actions)])).toEqual([]);
    const bare = entity("note", { title: string }).actions(actions);
    expect(await startProblems([bare])).toHaveLength(2);
  });
});

it("a list's query string selects live or deleted records", () => {
  expect(serializeListQuery({ deleted: "only", limit: 5 })).toBe("_limit=5&_deleted=only");
  expect(serializeListQuery({})).toBe("");
});
