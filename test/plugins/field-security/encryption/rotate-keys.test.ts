import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { memoryDriver } from "../../../../src/drivers/memory/index.ts";
import { embedded, postgres } from "../../../../src/drivers/prisma/index.ts";
import { ConfigurationError, entity, string, text } from "../../../../src/entity/index.ts";
import { type Driver, type Row, withMiddleware } from "../../../../src/gate/index.ts";
import { DatabaseError } from "../../../../src/kernel/index.ts";
import { decrypt, encrypt } from "../../../../src/plugins/field-security/encryption/cipher.ts";
import { createKeyRing, type KeyRing } from "../../../../src/plugins/field-security/encryption/key-ring.ts";
import {
  countValuesPerKey,
  type RotationProgress,
  rotateEncryptionKeys,
  valuesNeeding,
} from "../../../../src/plugins/field-security/encryption/rotate-keys.ts";
import type { RotationFailure } from "../../../../src/plugins/field-security/encryption/rotate-record.ts";
import { beforeStatements } from "../../../support/before-statements.ts";
import { connectDriver } from "../../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../../support/databases.ts";
import { KEY_1, KEY_2, ringOf, unlabelled } from "./keys.ts";

const note = entity("note", { title: string, secret: text.encrypted(), extra: text.encrypted().optional() });
const account = entity("account", { token: text.encrypted() }).timestamps(false);
const plain = entity("plain", { name: string }).timestamps(false);
const entities = [note, plain, account];

const DRIVERS: Readonly<Record<string, () => Promise<{ driver: Driver; close(): Promise<void> }>>> = {
  memory: async () => {
    const driver = await connectDriver(memoryDriver(), entities);
    return { driver, close: () => driver.disconnect() };
  },
  SQLite: async () => {
    const { file, remove } = await freshSqliteFile();
    const driver = await connectDriver(embedded({ file }), entities);
    return { driver, close: () => driver.disconnect().then(remove) };
  },
  PostgreSQL: async () => {
    const { url, drop } = await freshPostgres();
    const driver = await connectDriver(postgres(url), entities);
    return { driver, close: () => driver.disconnect().then(drop) };
  },
};

/** `v1`, then `v2` as primary. */
function rotated({ bind = false } = {}): KeyRing {
  const ring = ringOf({ v1: KEY_1, v2: { key: KEY_2, bind } });
  ring.setPrimary("v2");
  return ring;
}
const idOf = (i: number): string => `n-${String(i).padStart(4, "0")}`;
const EPOCH = new Date(0);
const under1 = (value: string): string => encrypt(ringOf(), value);

async function plant(driver: Driver, count: number): Promise<void> {
  await driver.createMany(
    note,
    Array.from({ length: count }, (_, i) => ({
      id: idOf(i),
      title: `t${i}`,
      secret: under1(`secret ${i}`),
      extra: i % 2 === 0 ? null : under1(`extra ${i}`),
      createdAt: EPOCH,
      updatedAt: EPOCH,
    })),
  );
}

describe.each(Object.entries(DRIVERS))("a rotation of keys on %s", (database, open) => {
  let driver: Driver;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ driver, close } = await open());
  });
  afterEach(async () => {
    for (const one of [note, account]) await driver.deleteMany(one, { id: { ne: "-" } });
  });
  afterAll(() => close());

  const secretsOf = async (ring: KeyRing): Promise<unknown[]> =>
    (await driver.findMany(note)).map((row) =>
      decrypt(ring, row.secret, { entity: "note", field: "secret", id: row.id as string }),
    );

  it("gives every value the primary key, and changes nothing else", async () => {
    const ring = rotated();
    await plant(driver, 25);
    await driver.create(account, { id: "a1", token: unlabelled(under1("legacy")) });
    await driver.create(account, { id: "a2", token: encrypt(ring, "current") });
    const [before, current] = [await driver.findMany(note), await driver.findOne(account, { id: "a2" })];
    const steps: RotationProgress[] = [];
    const result = await rotateEncryptionKeys({
      driver,
      ring,
      entities,
      batchSize: 10,
      onProgress: (p) => steps.push(p),
    });
    expect(result).toEqual({
      complete: true,
      keyId: "v2",
      entity: null,
      after: null,
      finished: ["note", "account"],
      total: 27,
      records: 27,
      reEncrypted: 25 + 12 + 1,
      overtaken: 0,
      failed: 0,
    });
    expect(steps.map(({ entity, after, records, total }) => [entity, after, records, total])).toEqual([
      ["note", idOf(9), 10, 27],
      ["note", idOf(19), 20, 27],
      ["note", idOf(24), 25, 27],
      ["account", "a2", 27, 27],
    ]);
    const after = await driver.findMany(note);
    const without = (rows: Row[]) => rows.map(({ secret, extra, ...rest }) => rest);
    expect(without(after)).toEqual(without(before));
    ring.remove("v1");
    expect(await secretsOf(ring)).toEqual(before.map((__, i) => `secret ${i}`));
    expect(after.map(({ extra }) => (extra === null ? null : decrypt(ring, extra)))).toEqual(
      before.map((__, i) => (i % 2 === 0 ? null : `extra ${i}`)),
    );
    expect(await driver.findOne(account, { id: "a2" })).toEqual(current);
    expect(decrypt(ring, (await driver.findOne(account, { id: "a1" }))?.token)).toBe("legacy");
  });

  it("has nothing to do the second time", async () => {
    const ring = rotated();
    await plant(driver, 5);
    await rotateEncryptionKeys({ driver, ring, entities });
    const rows = await driver.findMany(note);
    const again = await rotateEncryptionKeys({ driver, ring, entities });
    expect(again).toMatchObject({ complete: true, total: 5, records: 5, reEncrypted: 0 });
    expect(await driver.findMany(note)).toEqual(rows);
  });

  it("binds values if the primary key does, each to its own record and field", async () => {
    const ring = rotated({ bind: true });
    await plant(driver, 4);
    expect(await rotateEncryptionKeys({ driver, ring, entities })).toMatchObject({ reEncrypted: 6, failed: 0 });
    expect(await secretsOf(ring)).toEqual(["secret 0", "secret 1", "secret 2", "secret 3"]);
    const [one, other] = await driver.findMany(note);
    expect(() => decrypt(ring, one?.secret, { entity: "note", field: "secret", id: other?.id as string })).toThrow();
    ring.register("44".repeat(32), "v3");
    ring.setPrimary("v3");
    expect(await rotateEncryptionKeys({ driver, ring, entities })).toMatchObject({ reEncrypted: 6, failed: 0 });
    expect(decrypt(ring, (await driver.findMany(note))[0]?.secret)).toBe("secret 0");
  });

  it("loses no concurrent write, and leaves no value under the old key", async () => {
    const ring = rotated();
    const rows = database === "PostgreSQL" ? 5_000 : 64; // on a database where writers really run in parallel
    await plant(driver, rows);
    // Each writer changes its rows once, the last ones first: a change lost to the rotation would stay lost.
    const write = async (writer: number): Promise<void> => {
      for (let i = rows - 8 + writer; i >= 0; i -= 8) {
        await driver.update(note, { id: idOf(i) }, { secret: encrypt(ring, `written ${i}`) });
        await setImmediate(); // SQLite is synchronous: writers that never wait would block all others
      }
    };
    let writers: Promise<void>[] | undefined;
    const rotating = beforeStatements(driver, "update", () => {
      writers ??= Array.from({ length: 8 }, (__, writer) => write(writer)); // all rows have been read by now
    });
    const result = await rotateEncryptionKeys({ driver: rotating, ring, entities });
    await Promise.all(writers ?? []);
    expect(result).toMatchObject({ complete: true, failed: 0, records: rows });
    expect(result.overtaken).toBeGreaterThan(0);
    ring.remove("v1");
    expect(await secretsOf(ring)).toEqual(Array.from({ length: rows }, (__, i) => `written ${i}`));
    expect(await countValuesPerKey(driver, [note])).toMatchObject([
      { field: "secret", keyId: "v2", values: rows },
      { field: "extra", keyId: "v2", values: rows / 2 },
    ]);
  }, 120_000);

  it("re-reads a record that changed in between, and keeps the change", async () => {
    const ring = rotated();
    await plant(driver, 3);
    const meanwhile = [
      () => driver.update(note, { id: idOf(0) }, { secret: encrypt(ring, "newer") }),
      () => driver.update(note, { id: idOf(1) }, { secret: under1("newer, by a process with the old key") }),
      () => driver.update(note, { id: idOf(1) }, { extra: under1("and again") }),
      () => driver.delete(note, { id: idOf(2) }),
    ];
    const racing = beforeStatements(driver, "update", () => meanwhile.shift()?.());
    const result = await rotateEncryptionKeys({ driver: racing, ring, entities });
    expect(result).toMatchObject({ complete: true, records: 3, overtaken: 4, reEncrypted: 2 });
    ring.remove("v1");
    expect(await secretsOf(ring)).toEqual(["newer", "newer, by a process with the old key"]);
    expect(decrypt(ring, (await driver.findOne(note, { id: idOf(1) }))?.extra)).toBe("and again");
  });

  it("stops at the signal and continues from there, with or without its progress", async () => {
    const ring = rotated();
    await plant(driver, 12);
    const stop = new AbortController();
    const first = await rotateEncryptionKeys({
      driver,
      ring,
      entities,
      batchSize: 5,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    expect(first).toMatchObject({ complete: false, entity: "note", after: idOf(4), records: 5, total: 12 });
    await driver.update(note, { id: idOf(0) }, { secret: under1("behind the rotation") });
    const resumeFrom = JSON.parse(JSON.stringify(first)) as RotationProgress;
    const rest = await rotateEncryptionKeys({ driver, ring, entities, resumeFrom });
    expect(rest).toMatchObject({ complete: true, records: 12, total: 12, finished: ["note", "account"] });
    const usage = await countValuesPerKey(driver, entities);
    expect(valuesNeeding("v1", usage)).toBe(1);
    expect(await rotateEncryptionKeys({ driver, ring, entities })).toMatchObject({ total: 12, reEncrypted: 1 });
    expect(valuesNeeding("v1", await countValuesPerKey(driver, entities))).toBe(0);
    expect(await rotateEncryptionKeys({ driver, ring, entities, resumeFrom: rest })).toMatchObject({ records: 12 });
    ring.setPrimary("v1");
    expect(await rotateEncryptionKeys({ driver, ring, entities, resumeFrom: rest })).toMatchObject({
      records: 12,
      total: 12,
    });
    expect(await secretsOf(ringOf())).toHaveLength(12);
  });

  it("leaves values that do not decrypt unchanged, and names them", async () => {
    const ring = rotated();
    await plant(driver, 3);
    const bad = { secret: under1("x").replace("v1:", "v7:"), extra: "plain text" };
    await driver.update(note, { id: idOf(1) }, bad);
    await driver.update(note, { id: idOf(2) }, { secret: `v1:${"A".repeat(40)}` });
    const failures: RotationFailure[] = [];
    const result = await rotateEncryptionKeys({ driver, ring, entities, onFailure: (one) => failures.push(one) });
    expect(result).toMatchObject({ complete: true, records: 3, reEncrypted: 1, failed: 3 });
    expect(failures).toEqual([
      { entity: "note", field: "secret", id: idOf(1), reason: "unknown-key" },
      { entity: "note", field: "extra", id: idOf(1), reason: "malformed" },
      { entity: "note", field: "secret", id: idOf(2), reason: "refused" },
    ]);
    expect(await driver.findOne(note, { id: idOf(1) })).toMatchObject(bad);
  });
});

describe("a rotation of keys", () => {
  let driver: Driver;
  beforeEach(async () => {
    driver = await connectDriver(memoryDriver(), entities);
  });

  it("needs a key", async () => {
    await expect(rotateEncryptionKeys({ driver, ring: createKeyRing(), entities })).rejects.toThrow(ConfigurationError);
  });

  it("ends if a driver does not find a record by its own ciphertext", async () => {
    await plant(driver, 1);
    const blind = withMiddleware(driver, async (statement, next) =>
      statement.kind === "update" ? { count: 0, rows: [] } : next(statement),
    );
    await expect(rotateEncryptionKeys({ driver: blind, ring: rotated(), entities })).rejects.toThrow(DatabaseError);
  });

  it("ends at an error that is not about a stored value", async () => {
    await plant(driver, 1);
    const nameless = withMiddleware(driver, async (statement, next) =>
      statement.kind === "find" ? (await next(statement)).map((row) => ({ ...row, id: "" })) : next(statement),
    );
    const rotation = rotateEncryptionKeys({ driver: nameless, ring: rotated({ bind: true }), entities });
    await expect(rotation).rejects.toThrow(/binds values to their place/);
  });

  it("ends with the error of a driver that fails", async () => {
    await plant(driver, 1);
    const down = beforeStatements(driver, "update", () => Promise.reject(new DatabaseError("down")));
    await expect(rotateEncryptionKeys({ driver: down, ring: rotated(), entities })).rejects.toThrow("down");
  });
});

describe("the values that need a key", () => {
  it("are those that name it, and those without a key id", async () => {
    const driver = await connectDriver(memoryDriver(), entities);
    const ring = rotated();
    expect(await countValuesPerKey(driver, entities)).toEqual([]);
    await plant(driver, 4);
    await driver.create(account, { id: "a1", token: unlabelled(under1("legacy")) });
    await driver.create(account, { id: "a2", token: encrypt(ring, "current") });
    await driver.create(account, { id: "a3", token: "v1: plain text" });
    await driver.create(account, { id: "a4", token: under1("x").replace("v1", "V1") });
    const usage = await countValuesPerKey(driver, entities);
    expect(usage).toEqual([
      { entity: "note", field: "secret", keyId: "v1", values: 4 },
      { entity: "note", field: "extra", keyId: "v1", values: 2 },
      { entity: "account", field: "token", keyId: null, values: 2 },
      { entity: "account", field: "token", keyId: "v2", values: 1 },
      { entity: "account", field: "token", keyId: "V1", values: 1 },
    ]);
    expect([valuesNeeding("v1", usage), valuesNeeding("v2", usage), valuesNeeding("v9", usage)]).toEqual([8, 3, 2]);
    expect(valuesNeeding("v1", [])).toBe(0);
  });
});

/** A database that a separate process can open too. */
interface SharedDatabase {
  readonly open: () => Driver;
  /** The same as source text. */
  readonly source: string;
  /** Whether other processes may write while that process has it open. */
  readonly isForMany: boolean;
  remove(): Promise<void>;
}

const SHARED: Readonly<Record<string, () => Promise<SharedDatabase>>> = {
  SQLite: async () => {
    const { file, remove } = await freshSqliteFile();
    const source = `embedded({ file: ${JSON.stringify(file)} })`;
    return { open: () => embedded({ file }), source, isForMany: false, remove };
  },
  PostgreSQL: async () => {
    const { url, drop } = await freshPostgres();
    return { open: () => postgres(url), source: `postgres(${JSON.stringify(url)})`, isForMany: true, remove: drop };
  },
};

describe.each(Object.entries(SHARED))("a rotation on %s whose process is killed", (_database, create) => {
  const ROWS = 200;
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** Rotates in a separate process, which reports its progress line by line and never finishes. */
  function rotateElsewhere({ source }: SharedDatabase): ChildProcess {
    const program = `
      import { embedded, postgres } from "./src/drivers/prisma/index.ts";
      import { entity, string, text } from "./src/entity/index.ts";
      import { createKeyRing } from "./src/plugins/field-security/encryption/key-ring.ts";
      import { rotateEncryptionKeys } from "./src/plugins/field-security/encryption/rotate-keys.ts";
      import { connectDriver } from "./test/support/connect-driver.ts";
      const note = entity("note", { title: string, secret: text.encrypted(), extra: text.encrypted().optional() });
      const account = entity("account", { token: text.encrypted() }).timestamps(false);
      const plain = entity("plain", { name: string }).timestamps(false);
      const driver = await connectDriver(${source}, [note, plain, account]);
      const ring = createKeyRing();
      ring.register("${KEY_1}", "v1");
      ring.register("${KEY_2}", "v2");
      ring.setPrimary("v2");
      await rotateEncryptionKeys({
        driver,
        ring,
        entities: [note],
        batchSize: 4,
        onProgress: async (progress) => {
          console.log(JSON.stringify(progress));
          await new Promise((resolve) => setTimeout(resolve, progress.records < 40 ? 5 : 60_000));
        },
      });`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      cwd: new URL("../../../../", import.meta.url),
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return child;
  }

  /** Four writers that give every note another secret, the last ones first. */
  async function writeAll(driver: Driver, ring: KeyRing): Promise<void> {
    const write = async (writer: number): Promise<void> => {
      for (let i = ROWS - 1 - writer; i >= 0; i -= 4) {
        await driver.update(note, { id: idOf(i) }, { secret: encrypt(ring, `written ${i}`) });
        await setImmediate();
      }
    };
    await Promise.all([0, 1, 2, 3].map(write));
  }

  it.each([
    ["with the progress it saved", true],
    ["without", false],
  ])("continues in another one %s, and loses no value and no write", async (_, saved) => {
    const database = await create();
    let driver = await connectDriver(database.open(), entities);
    onTestFinished(() => driver.disconnect().then(database.remove));
    await plant(driver, ROWS);
    if (!database.isForMany) await driver.disconnect();

    const ring = rotated();
    const child = rotateElsewhere(database);
    const closed = once(child, "close");
    let progress: RotationProgress | undefined;
    let writing: Promise<void> | undefined;
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      progress = JSON.parse(line) as RotationProgress;
      if (database.isForMany) writing ??= writeAll(driver, ring);
      if (progress.records >= 12) child.kill("SIGKILL");
    }
    expect(await closed).toEqual([null, "SIGKILL"]);

    if (!database.isForMany) driver = await connectDriver(database.open(), entities);
    // Only the rotation writes this field: a value with the new key was rotated by the killed process.
    const usage = await countValuesPerKey(driver, [note]);
    const done = usage.find(({ field, keyId }) => field === "extra" && keyId === "v2")?.values;
    expect(done).toBeGreaterThanOrEqual(6);
    expect(done).toBeLessThan(ROWS / 2);

    writing ??= writeAll(driver, ring);
    const resumed = rotateEncryptionKeys({ driver, ring, entities, ...(saved ? { resumeFrom: progress } : {}) });
    const [result] = await Promise.all([resumed, writing]);
    expect(result).toMatchObject({ complete: true, failed: 0 });
    expect(await countValuesPerKey(driver, [note])).toMatchObject([
      { field: "secret", keyId: "v2", values: ROWS },
      { field: "extra", keyId: "v2", values: ROWS / 2 },
    ]);
    ring.remove("v1");
    const rows = await driver.findMany(note);
    expect(rows.map(({ secret }) => decrypt(ring, secret))).toEqual(rows.map((__, i) => `written ${i}`));
    expect(rows.map(({ extra }) => (extra === null ? null : decrypt(ring, extra)))).toEqual(
      rows.map((__, i) => (i % 2 === 0 ? null : `extra ${i}`)),
    );
  });
});
