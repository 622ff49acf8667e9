import metadata from "reflect-metadata/no-conflict";

const isMissing = !("getMetadata" in Reflect);

// tsyringe throws on import without this function, which only its decorators call. Keelson uses no decorators.
if (isMissing) Object.assign(Reflect, { getMetadata: metadata.getMetadata });

/** Removes what this file added, so that importing Keelson changes no globals. Call once tsyringe is loaded. */
export function takeReflectBack(): void {
  if (isMissing) Reflect.deleteProperty(Reflect, "getMetadata");
}
