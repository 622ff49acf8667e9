import {
  type Driver,
  embedded,
  entity,
  fieldSecurity,
  keelson,
  noopLogger,
  postgres,
  rotateEncryptionKeys,
  string,
  text,
} from "keelson";
import { describe, expect, it, onTestFinished } from "vitest";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";

const encryption = { key: "ab".repeat(32), bind: true };
const values = { text: "a sentence", code: "c-1", phone: "555" };

const inClear = entity("note", { text, code: string, phone: string.unique() });
const meanwhile = entity("note", {
  text: text.encrypted(),
  code: string.encrypted(),
  phone: string.encrypted({ searchable: true }).unique().optional(),
});
const encrypted = entity("note", {
  text: text.encrypted(),
  code: string.encrypted(),
  phone: string.encrypted({ searchable: true }).unique(),
});

/** Opens drivers on one database. */
const DATABASES: Readonly<Record<string, () => Promise<{ open(): Driver; remove(): Promise<void> }>>> = {
  SQLite: async () => {
    const { file, remove } = await freshSqliteFile();
    return { open: () => embedded({ file }), remove };
  },
  PostgreSQL: async () => {
    const { url, drop } = await freshPostgres();
    return { open: () => postgres(url), remove: drop };
  },
};

// docs/guides/encryption.md, "Fields that were in clear".
describe.each(Object.entries(DATABASES))("fields that become encrypted on %s", (_, make) => {
  it("keep their values at each step, and end as searchable ciphertext", async () => {
    const { open, remove } = await make();
    onTestFinished(remove);

    const first = keelson({ entities: [inClear], driver: open(), logger: noopLogger });
    await first.asSystem().note.create(values);
    await first.close();

    const driver = open();
    const second = keelson({
      entities: [meanwhile],
      driver,
      logger: noopLogger,
      plugins: (defaults) => defaults.replace("field-security", fieldSecurity({ encryption, allowPlaintext: true })),
    });
    expect((await second.asSystem().note.list()).data).toMatchObject([values]);
    const result = await rotateEncryptionKeys({ driver, entities: [meanwhile], encryption, allowPlaintext: true });
    expect(result).toMatchObject({ reEncrypted: 3, failed: 0, complete: true });
    await second.close();

    const last = open();
    const third = keelson({ entities: [encrypted], driver: last, logger: noopLogger, encryption });
    expect((await third.asSystem().note.list({ where: { phone: "555" } })).data).toMatchObject([values]);
    const [row] = await last.findMany("note");
    expect([row?.text, row?.code, row?.phone].every((stored) => /^v1:/.test(String(stored)))).toBe(true);
    await third.close();
  });
});
