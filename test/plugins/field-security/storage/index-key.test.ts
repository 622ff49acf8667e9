import { describe, expect, it, onTestFinished, vi } from "vitest";
import { withMiddleware } from "../../../../src/gate/index.ts";
import {
  type AppEncryption,
  ConfigurationError,
  clearEncryptionKeys,
  createEnhancedDriver,
  DatabaseError,
  DatabaseUnavailableError,
  type Driver,
  encryptValue,
  entity,
  initEncryption,
  keelson,
  memoryDriver,
  noopLogger,
  registerEncryptionKey,
  rotateEncryptionKeys,
  text,
} from "../../../../src/index.ts";
import { KEY_1, KEY_2, KEY_3 } from "../encryption/keys.ts";

const searchable = entity("person", { ssn: text.encrypted({ searchable: true }) });
const plain = entity("note", { secret: text.encrypted() });

const start = (one: typeof searchable | typeof plain, encryption?: AppEncryption) =>
  keelson({ entities: [one], driver: memoryDriver(), logger: noopLogger, ...(encryption && { encryption }) });
const several: AppEncryption = { key: KEY_2, keyId: "v2", keys: [{ key: KEY_1, keyId: "v1" }] };

describe("an app with searchable encrypted fields", () => {
  it("does not start with several keys and no index key", () => {
    expect(() => start(searchable, several)).toThrow(/person\.ssn.*indexKey/s);
  });

  it("does not start if its environment has several keys", () => {
    vi.stubEnv("KEELSON_ENCRYPTION_KEY", `v2:${KEY_2},v1:${KEY_1}`);
    try {
      expect(() => start(searchable)).toThrow(/indexKey/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("does not start if there are several process-wide keys", () => {
    initEncryption(KEY_1);
    try {
      start(searchable);
      registerEncryptionKey(KEY_2, "v2");
      expect(() => start(searchable)).toThrow(/indexKey/);
      initEncryption({ key: KEY_1, indexKey: KEY_1 });
      registerEncryptionKey(KEY_2, "v2");
      expect(start(searchable).entities.person.name).toBe("person");
    } finally {
      clearEncryptionKeys();
    }
  });

  it("starts with one key, or with an index key", () => {
    expect(start(searchable, { key: KEY_1 }).entities.person.name).toBe("person");
    expect(start(searchable, { ...several, indexKey: KEY_3 }).entities.person.name).toBe("person");
  });
});

describe("an app whose encrypted fields are not searchable", () => {
  it("needs no index key", () => {
    expect(start(plain, several).entities.note.name).toBe("note");
  });
});

describe("an app whose stored blind indexes were made with another key", () => {
  const unique = entity("person", { ssn: text.encrypted({ searchable: true }).unique().optional(), name: text });
  const now = new Date();
  const NEW: AppEncryption = { key: KEY_2, keyId: "v2", bind: true };
  const OLD = { key: KEY_1, keyId: "v1", bind: true };

  /** A database whose values were written with the old key and re-encrypted with the new one. */
  async function rotated(count = 1): Promise<Driver> {
    const driver = memoryDriver();
    const old = createEnhancedDriver(driver, { entities: [unique], encryption: OLD });
    await old.connect();
    for (let i = 0; i < count; i++)
      await old.create(unique, { id: `p${i}`, ssn: `s${i}`, name: "n", createdAt: now, updatedAt: now });
    const encryption = { ...NEW, keys: [OLD], indexKey: KEY_1 };
    await rotateEncryptionKeys({ driver, entities: [unique], encryption });
    return driver;
  }
  const app = (driver: Driver, encryption: AppEncryption) =>
    keelson({ entities: [unique], driver, logger: noopLogger, encryption });

  it("does not start, and says what to do", async () => {
    const driver = await rotated(2);
    const api = app(driver, NEW);
    await expect(api.ready).rejects.toThrow(ConfigurationError);
    await expect(api.ready).rejects.toThrow(/^person\.ssn: .*another key; pass .*indexKey.*reindex: true/);
    await expect(api.asSystem().person.create({ ssn: "s0", name: "n" })).rejects.toThrow(ConfigurationError);
    expect(await driver.count(unique)).toBe(2);
    await api.close();
    const mended = app(driver, { ...NEW, indexKey: KEY_1 });
    expect((await mended.asSystem().person.list({ where: { ssn: "s0" } })).data).toMatchObject([{ id: "p0" }]);
    await mended.close();
  });

  it("starts if there is nothing to compare, or one of the records matches", async () => {
    const empty = memoryDriver();
    const first = app(empty, NEW);
    await first.ready;
    await first.asSystem().person.create({ name: "no ssn" });
    await first.close();

    const moved = await rotated(2);
    const { ssnBidx } = (await moved.findOne("person", { id: "p1" })) ?? {};
    await moved.update("person", { id: "p1" }, { ssnBidx: null });
    await moved.update("person", { id: "p0" }, { ssnBidx });
    await moved.update("person", { id: "p1" }, { ssnBidx: "x" });
    await createEnhancedDriver(moved, { entities: [unique], encryption: { ...NEW, indexKey: KEY_1 } }).create(unique, {
      id: "p2",
      ssn: "s2",
      name: "n",
      createdAt: now,
      updatedAt: now,
    });
    const second = app(moved, { ...NEW, indexKey: KEY_1 });
    await second.ready;
    await second.close();

    const unreadable = await rotated();
    await unreadable.update("person", { id: "p0" }, { ssn: "v2:damaged" });
    const third = app(unreadable, NEW);
    await third.ready;
    await third.close();
  });

  it("starts if the indexes cannot be read, since other tables may be readable", async () => {
    const driver = withMiddleware(memoryDriver(), () => Promise.reject(new DatabaseError("no such table")));
    const api = app(driver, NEW);
    await api.ready;
    await api.close();
  });

  it("retries if the database is unavailable", async () => {
    const base = await rotated();
    let isAway = true;
    const driver = withMiddleware(base, (statement, next) =>
      isAway ? Promise.reject(new DatabaseUnavailableError()) : next(statement),
    );
    const api = app(driver, { ...NEW, indexKey: KEY_1 });
    await expect(api.ready).rejects.toThrow(DatabaseUnavailableError);
    isAway = false;
    await api.close();
  });

  it("has them recomputed by a rotation, and starts", async () => {
    const driver = await rotated(3);
    await driver.update("person", { id: "p1" }, { ssn: "v2:damaged" });
    const result = await rotateEncryptionKeys({ driver, entities: [unique], encryption: NEW, reindex: true });
    expect(result).toMatchObject({ records: 3, reEncrypted: 2, failed: 1 });
    const api = app(driver, NEW);
    expect((await api.asSystem().person.list({ where: { ssn: "s2" } })).data).toMatchObject([{ id: "p2", ssn: "s2" }]);
    const again = await rotateEncryptionKeys({ driver, entities: [unique], encryption: NEW, reindex: true });
    expect(again).toMatchObject({ reEncrypted: 0, failed: 1 });
    await api.close();
  });

  it("starts and recomputes them despite a value of another type", async () => {
    const driver = await rotated(2);
    initEncryption({ key: KEY_2, keyId: "v2", bind: true });
    onTestFinished(() => clearEncryptionKeys());
    const odd = encryptValue({ a: 1 }, { entity: "person", field: "ssn", id: "p0" });
    await driver.update("person", { id: "p0" }, { ssn: odd });
    const failures: unknown[] = [];
    const onFailure = (failure: unknown) => failures.push(failure);
    await rotateEncryptionKeys({ driver, entities: [unique], encryption: NEW, reindex: true, onFailure });
    expect(failures).toEqual([{ entity: "person", field: "ssn", id: "p0", reason: "malformed" }]);
    const api = app(driver, NEW);
    await api.ready;
    await api.close();
  });

  it("has them recomputed together with the ciphertext", async () => {
    const driver = memoryDriver();
    const old = createEnhancedDriver(driver, { entities: [unique], encryption: OLD });
    await old.connect();
    await old.create(unique, { id: "p", ssn: "s", name: "n", createdAt: now, updatedAt: now });
    const encryption = { ...NEW, keys: [OLD], indexKey: KEY_3 };
    await rotateEncryptionKeys({ driver, entities: [unique], encryption, reindex: true });
    const api = app(driver, { ...NEW, indexKey: KEY_3 });
    expect((await api.asSystem().person.list({ where: { ssn: "s" } })).data).toMatchObject([{ id: "p" }]);
    await api.close();
  });
});
