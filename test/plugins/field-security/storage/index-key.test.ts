import { describe, expect, it, vi } from "vitest";
import {
  type AppEncryption,
  clearEncryptionKeys,
  entity,
  initEncryption,
  keelson,
  memoryDriver,
  noopLogger,
  registerEncryptionKey,
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

  it("does not start when the keys of its environment are several", () => {
    vi.stubEnv("KEELSON_ENCRYPTION_KEY", `v2:${KEY_2},v1:${KEY_1}`);
    try {
      expect(() => start(searchable)).toThrow(/indexKey/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("does not start when the process-wide keys are several", () => {
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
