import { createSecretKey, webcrypto } from "node:crypto";
import { describe, expect, it } from "vitest";
import { encrypt, open, seal } from "../../../../src/plugins/field-security/encryption/cipher.ts";
import { KEY_1, ringOf, sealedOf } from "./keys.ts";
import vectors from "./wycheproof/aes-gcm-256.json" with { type: "json" };

const hex = (text: string): Buffer => Buffer.from(text, "hex");

describe("AES-256-GCM", () => {
  it.each(vectors.tests.filter(({ result }) => result === "valid"))("seals and opens Wycheproof $tcId", (test) => {
    const key = createSecretKey(test.key, "hex");
    const sealed = seal(key, hex(test.iv), hex(test.msg), hex(test.aad));
    expect(sealed.toString("hex")).toBe(test.iv + test.ct + test.tag);
    expect(open(key, sealed, hex(test.aad))?.toString("hex")).toBe(test.msg);
  });

  it.each(vectors.tests.filter(({ result }) => result === "invalid"))(
    "does not open Wycheproof $tcId: $comment",
    (test) => {
      const sealed = hex(test.iv + test.ct + test.tag);
      expect(open(createSecretKey(test.key, "hex"), sealed, hex(test.aad))).toBeUndefined();
    },
  );

  it("reads the output of another implementation of the standard", async () => {
    const sealed = sealedOf(encrypt(ringOf(), "naïve café 🔐"));
    const key = await webcrypto.subtle.importKey("raw", hex(KEY_1), "AES-GCM", false, ["decrypt"]);
    const algorithm = { name: "AES-GCM", iv: sealed.subarray(0, 12), tagLength: 128 };
    const text = await webcrypto.subtle.decrypt(algorithm, key, sealed.subarray(12));
    expect(Buffer.from(text).toString()).toBe("naïve café 🔐");
  });
});
