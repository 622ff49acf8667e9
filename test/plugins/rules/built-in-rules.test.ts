import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, entity, isKeelsonError, string } from "../../../src/entity/index.ts";
import type { OperationInput } from "../../../src/gate/index.ts";
import type { User } from "../../../src/kernel/index.ts";
import { admin, authenticated, everyone, owner, ownerOrAdmin, rules } from "../../../src/plugins/rules/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { recordStatements } from "../../support/record-statements.ts";

const account = entity("account", { name: string })
  .ownedBy("id")
  .rules({ read: [owner] })
  .build();

function notesWith(...names: string[]) {
  return entity("note", { text: string, author: belongsTo(() => account).optional() })
    .ownedBy("author")
    .rules({ create: names, read: names, update: names, delete: names })
    .build();
}

const callers: Record<string, User | null> = {
  anonymous: null,
  ann: { id: "ann" },
  bob: { id: "bob" },
  admin: { id: "root", role: "admin" },
};
const seed = {
  account: [
    { id: "ann", name: "Ann" },
    { id: "bob", name: "Bob" },
    { id: "root", name: "Root" },
  ],
  note: [
    { id: "a1", text: "Ann's", authorId: "ann" },
    { id: "b1", text: "Bob's", authorId: "bob" },
    { id: "n1", text: "Nobody's", authorId: null },
  ],
};

async function boot(entities: readonly ReturnType<typeof notesWith>[] | readonly [typeof account]) {
  const driver = recordStatements(memoryDriver(seed));
  const kernel = createFakeKernel()
    .withEntities(...(entities[0] === account ? [account, notesWith("everyone")] : [account, ...entities]))
    .withDriver(driver);
  await kernel.use(rules());
  const outcome = async (caller: User | null, input: OperationInput): Promise<string> => {
    try {
      const { records, total } = await kernel.as(caller).operation(input);
      return total === undefined ? records.map(({ id }) => id).join(" ") : String(total);
    } catch (error) {
      return isKeelsonError(error) ? String(error.status) : "unexpected";
    }
  };
  return { kernel, driver, outcome };
}

describe("built-in rules", () => {
  // Columns: list, count, read of Ann's, update of Ann's, delete of Ann's, create, by each caller.
  const table: Record<string, Record<string, [string, string, string, string, string, string]>> = {
    everyone: {
      anonymous: ["a1 b1 n1", "3", "a1", "a1", "ok", "ok"],
      bob: ["a1 b1 n1", "3", "a1", "a1", "ok", "ok"],
    },
    authenticated: {
      anonymous: ["401", "401", "401", "401", "401", "401"],
      bob: ["a1 b1 n1", "3", "a1", "a1", "ok", "ok"],
    },
    owner: {
      anonymous: ["401", "401", "401", "401", "401", "401"],
      ann: ["a1", "1", "a1", "a1", "ok", "ok"],
      bob: ["b1", "1", "403", "403", "403", "ok"],
      admin: ["", "0", "403", "403", "403", "ok"],
    },
    admin: {
      anonymous: ["401", "401", "401", "401", "401", "401"],
      ann: ["403", "403", "403", "403", "403", "403"],
      admin: ["a1 b1 n1", "3", "a1", "a1", "ok", "ok"],
    },
    ownerOrAdmin: {
      anonymous: ["401", "401", "401", "401", "401", "401"],
      ann: ["a1", "1", "a1", "a1", "ok", "ok"],
      bob: ["b1", "1", "403", "403", "403", "ok"],
      admin: ["a1 b1 n1", "3", "a1", "a1", "ok", "ok"],
    },
    "": {
      anonymous: ["401", "401", "401", "401", "401", "401"],
      ann: ["403", "403", "403", "403", "403", "403"],
      admin: ["403", "403", "403", "403", "403", "403"],
    },
  };

  for (const [rule, rows] of Object.entries(table))
    for (const [name, expected] of Object.entries(rows))
      it(`${rule === "" ? "an empty list" : rule} for ${name === "anonymous" ? "an anonymous caller" : name}`, async () => {
        const note = notesWith(...(rule === "" ? [] : [rule]));
        const caller = callers[name] ?? null;
        const inputs: readonly OperationInput[] = [
          { kind: "list", entity: "note" },
          { kind: "count", entity: "note" },
          { kind: "read", entity: "note", id: "a1" },
          { kind: "update", entity: "note", id: "a1", data: { text: "changed" } },
          { kind: "delete", entity: "note", id: "a1" },
          { kind: "create", entity: "note", data: { text: "new" } },
        ];
        const seen: string[] = [];
        for (const input of inputs) {
          const { outcome } = await boot([note]);
          const result = await outcome(caller, input);
          const isNumber = /^\d{3}$/.test(result);
          seen.push(isNumber || !["delete", "create"].includes(input.kind) ? result : "ok");
        }
        expect(seen).toEqual(expected);
      });

  it("are frozen objects with a name", () => {
    for (const rule of [everyone, authenticated, owner, admin, ownerOrAdmin]) expect(Object.isFrozen(rule)).toBe(true);
    expect([everyone, authenticated, owner, admin, ownerOrAdmin].map(({ name }) => name)).toEqual([
      "everyone",
      "authenticated",
      "owner",
      "admin",
      "ownerOrAdmin",
    ]);
  });

  it("refuse anonymous callers without a statement, for existing and missing ids alike", async () => {
    for (const rule of ["authenticated", "owner", "admin", "ownerOrAdmin"]) {
      const { outcome, driver } = await boot([notesWith(rule)]);
      for (const id of ["a1", "missing"])
        for (const kind of ["read", "update", "delete"] as const)
          expect(await outcome(null, { kind, entity: "note", id, ...(kind === "update" ? { data: {} } : {}) })).toBe(
            "401",
          );
      expect(driver.statements).toEqual([]);
    }
  });

  it("put the owner into the statement itself", async () => {
    const { kernel, driver } = await boot([notesWith("owner")]);
    const operation = await kernel.as({ id: "ann" }).operation({ kind: "list", entity: "note" });
    expect(operation.decision).toMatchObject({ allowed: true, predicate: { authorId: "ann" } });
    expect(driver.statements).toEqual(["find note"]);
  });

  it("are not evaluated for a caller with an invalid id", async () => {
    const { outcome } = await boot([notesWith("owner")]);
    for (const id of [null, undefined, "", 7, ["ann"], { not: "x" }, Number.NaN, "a\u0000b"])
      expect(await outcome({ id } as never, { kind: "read", entity: "note", id: "n1" })).toBe("401");
  });

  it("allow a record to be its own owner", async () => {
    const { outcome } = await boot([account]);
    expect(await outcome({ id: "ann" }, { kind: "list", entity: "account" })).toBe("ann");
    expect(await outcome({ id: "ann" }, { kind: "read", entity: "account", id: "bob" })).toBe("403");
  });

  it("do not allow a caller to become the owner of a record that owns itself", async () => {
    const self = entity("self", { name: string })
      .ownedBy("id")
      .rules({ create: ["owner"] })
      .build();
    const kernel = createFakeKernel().withEntities(self).withDriver(memoryDriver());
    await kernel.use(rules());
    const creating = kernel.as({ id: "ann" }).operation({ kind: "create", entity: "self", data: { name: "x" } });
    await expect(creating).rejects.toMatchObject({ status: 403 });
  });

  it("pass when any of a list passes", async () => {
    const { outcome } = await boot([notesWith("admin", "owner")]);
    expect(await outcome({ id: "ann" }, { kind: "list", entity: "note" })).toBe("a1");
    expect(await outcome({ id: "root", isAdmin: true }, { kind: "list", entity: "note" })).toBe("a1 b1 n1");
    expect(await outcome(null, { kind: "list", entity: "note" })).toBe("401");
  });

  it("deny an entity without rules, and a missing key", async () => {
    const bare = entity("bare", { name: string }).build();
    const half = entity("half", { name: string })
      .rules({ read: ["everyone"] })
      .build();
    const kernel = createFakeKernel().withEntities(bare, half).withDriver(memoryDriver());
    await kernel.use(rules());
    const scope = kernel.as({ id: "root", role: "admin" });
    await expect(scope.operation({ kind: "list", entity: "bare" })).rejects.toMatchObject({ status: 403 });
    await expect(scope.operation({ kind: "create", entity: "half", data: {} })).rejects.toMatchObject({ status: 403 });
    await expect(scope.operation({ kind: "list", entity: "half" })).resolves.toMatchObject({ records: [] });
  });

  it("list the rules that were evaluated", async () => {
    const { kernel } = await boot([notesWith("admin")]);
    const reading = kernel.as({ id: "ann" }).operation({ kind: "list", entity: "note" });
    await expect(reading).rejects.toMatchObject({ details: { entity: "note", access: "read", rules: ["admin"] } });
  });
});
