import type { Project } from "../project/project.ts";

/** Id of a key that was given without one (docs/guides/encryption.md). */
const DEFAULT_KEY_ID = "v1";

/**
 * Ids of the keys that an app of this project has, the one that encrypts first: those of its configuration, of
 * KEELSON_ENCRYPTION_KEY, or of the process, as the app itself looks for them.
 */
export function keyIdsOf({ config: { encryption }, library }: Project): readonly string[] {
  if (encryption !== undefined)
    return [encryption.keyId ?? DEFAULT_KEY_ID, ...(encryption.keys ?? []).map(({ keyId }) => keyId)];
  const text = process.env.KEELSON_ENCRYPTION_KEY;
  if (text === undefined || text === "") return library.getRegisteredKeyIds();
  return text.split(",").map((part) => (part.includes(":") ? (part.trim().split(":")[0] as string) : DEFAULT_KEY_ID));
}
