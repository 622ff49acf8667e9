import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Texts of a run as they are kept outside the app's database. */
export interface RunCipher {
  seal(text: string): string;
  open(text: string): string;
}

/** A key for one run. */
export function newRunKey(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * AES-256-GCM with a key from the run's row, which the app's own keys encrypt. What DBOS stores can be read only with
 * access to that row; key rotation changes nothing there, and without the row it is noise.
 * @param key undefined: texts stay as they are
 */
export function runCipher(runId: string, key: string | undefined): RunCipher {
  if (key === undefined) return { seal: (text) => text, open: (text) => text };
  const secret = Buffer.from(key, "base64url");
  return {
    seal(text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", secret, iv, { authTagLength: 16 }).setAAD(Buffer.from(runId));
      return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url");
    },
    open(text) {
      const bytes = Buffer.from(text, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(runId)).setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
    },
  };
}
