import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, bool, entity, int, isKeelsonError, string } from "../../../src/entity/index.ts";
import type { Where } from "../../../src/gate/index.ts";
import type { User } from "../../../src/kernel/index.ts";
import { all, defineRule, rules } from "../../../src/plugins/rules/index.ts";
import { createFakeKernel } from "../../../src/testing/fake-kernel.ts";
import { propertyOptions } from "../../support/properties.ts";

const account = entity("account", { name: string }).build();
const ids = ["ann", "bob", "cat"] as const;

interface NoteRow {
  readonly id: string;
  readonly open: boolean;
  readonly level: number;
  readonly authorId: string | null;
}

// What each rule means, written twice: as a Keelson rule, and as a plain function.
const level = (user: User | null): number => Number(user?.level ?? -1);
const meanings: Record<string, (user: User | null, note: NoteRow) => boolean> = {
  everyone: () => true,
  authenticated: (user) => user !== null,
  admin: (user) => user?.role === "admin",
  owner: (user, note) => user !== null && note.authorId === user.id,
  ownerOrAdmin: (user, note) => user !== null && (user.role === "admin" || note.authorId === user.id),
  "eq: open": (_, note) => note.open,
  "eq: level": (user, note) => note.level <= level(user),
  "eq: async": (user, note) => user !== null && note.level > level(user),
  "eq: looks": (user, note) => note.open && user !== null,
  "eq: by name": (_, note) => note.authorId === "cat",
  "eq: broken": () => false,
};
defineRule("eq: open", () => ({ open: true }));
defineRule("eq: level", ({ user }) => ({ NOT: { level: { gt: level(user) } } }));
defineRule("eq: async", async ({ user }) => user !== null && { level: { gt: level(user) } });
defineRule("eq: looks", ({ record, user }) => record?.open === true && user !== null, {
  where: ({ user }): Where | false => user !== null && { open: true },
});
defineRule("eq: by name", ({ record }) => (record === null ? { author: { name: "cat" } } : record.authorId === "cat"));
defineRule("eq: broken", () => {
  throw new TypeError("broken");
});

const simple = fc.constantFrom(...Object.keys(meanings));
const ruleArbitrary = fc.oneof(
  { weight: 3, arbitrary: simple },
  { weight: 1, arbitrary: fc.array(simple, { minLength: 1, maxLength: 3 }).map((parts) => all(...parts).name) },
);
const userArbitrary: fc.Arbitrary<User | null> = fc.option(
  fc.record({
    id: fc.constantFrom(...ids),
    role: fc.constantFrom("user", "admin"),
    level: fc.integer({ min: -1, max: 4 }),
  }),
);
const notesArbitrary = fc
  .array(
    fc.record({
      open: fc.boolean(),
      level: fc.integer({ min: 0, max: 3 }),
      authorId: fc.option(fc.constantFrom(...ids)),
    }),
    { maxLength: 8 },
  )
  .map((notes) => notes.map((note, index) => ({ id: `n${index}`, ...note })));

function passes(rule: string, user: User | null, note: NoteRow): boolean {
  const parts = rule.startsWith("all(") ? rule.slice(4, -1).split(",") : [rule];
  return parts.every((part) => meanings[part]?.(user, note) === true);
}

describe("the rules of an entity", () => {
  it("list, count and return exactly the records they pass for", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ruleArbitrary, { maxLength: 4 }),
        userArbitrary,
        notesArbitrary,
        async (names, user, notes) => {
          const note = entity("note", { open: bool, level: int, author: belongsTo(() => account).optional() })
            .ownedBy("author")
            .rules({ read: names, delete: names })
            .build();
          const driver = memoryDriver({ account: ids.map((id) => ({ id, name: id })), note: notes });
          const kernel = createFakeKernel().withEntities(account, note).withDriver(driver);
          await kernel.use(rules());
          const ask = async (kind: "list" | "count" | "read" | "delete", id?: string) => {
            try {
              const operation = await kernel.as(user).operation({ kind, entity: "note", id });
              return kind === "count" ? operation.total : operation.records.map((record) => record.id);
            } catch (error) {
              if (isKeelsonError(error)) return error.status;
              throw error;
            }
          };
          const expected = notes.filter((row) => names.some((name) => passes(name, user, row))).map(({ id }) => id);
          const denied = user === null ? 401 : 403;
          const listed = await ask("list");
          if (listed === denied) expect(expected).toEqual([]);
          else expect(listed).toEqual(expected);
          expect(await ask("count")).toBe(listed === denied ? denied : expected.length);
          for (const { id } of notes) {
            const isAllowed = expected.includes(id);
            expect(await ask("read", id)).toEqual(isAllowed ? [id] : denied);
            expect(await ask("delete", id)).toEqual(isAllowed ? [] : denied);
          }
        },
      ),
      propertyOptions(300),
    );
  });
});
