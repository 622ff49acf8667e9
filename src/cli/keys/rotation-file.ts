import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { RotationProgress } from "../../index.ts";

/** Where a rotation keeps how far it is: ids of records and numbers, no value and no key. */
const ROTATION_FILE = ".keelson/key-rotation.json";

/**
 * How far an interrupted rotation came; undefined without an interrupted one. The file only saves time, so a damaged one is
 * ignored.
 */
export async function readRotation(): Promise<RotationProgress | undefined> {
  try {
    return JSON.parse(await readFile(ROTATION_FILE, "utf8")) as RotationProgress;
  } catch {
    return undefined;
  }
}

export async function saveRotation(progress: RotationProgress): Promise<void> {
  await mkdir(dirname(ROTATION_FILE), { recursive: true });
  await writeFile(ROTATION_FILE, JSON.stringify(progress));
}

export function forgetRotation(): Promise<void> {
  return rm(ROTATION_FILE, { force: true });
}
