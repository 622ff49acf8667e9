import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";

/** Stores the bytes of files. Keys are UUIDs. */
export interface FileStore {
  put(key: string, bytes: Uint8Array<ArrayBuffer>, type: string): Promise<void>;
  /** Undefined for an unknown key. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Accepts unknown keys. */
  delete(key: string): Promise<void>;
}

/** Files in a folder, which is created if it does not exist. */
export function diskStore(folder: string): FileStore {
  return {
    async put(key, bytes) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, key), bytes, { flag: "wx" });
    },
    get: (key) =>
      readFile(join(folder, key)).catch((error: { readonly code?: string }) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
    delete: (key) => rm(join(folder, key), { force: true }),
  };
}

/** Objects in a bucket of a server with the protocol of Amazon S3. @param url of the bucket */
export function s3Store(
  url: string,
  credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string },
): FileStore {
  const client = new AwsClient({ ...credentials, service: "s3" });
  const send = async (key: string, init: RequestInit, ...expected: number[]): Promise<Response> => {
    const response = await client.fetch(`${url}/${key}`, init);
    if (!expected.includes(response.status)) throw new Error(`The store answered ${response.status}`);
    return response;
  };
  return {
    put: async (key, bytes, type) =>
      void (await send(key, { method: "PUT", body: bytes, headers: { "content-type": type } }, 200)),
    async get(key) {
      const response = await send(key, {}, 200, 404);
      return response.status === 404 ? undefined : new Uint8Array(await response.arrayBuffer());
    },
    delete: async (key) => void (await send(key, { method: "DELETE" }, 200, 204, 404)),
  };
}
