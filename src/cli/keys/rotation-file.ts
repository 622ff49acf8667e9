import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { RotationProgress } from "../../index.ts";

/** Where a rotation keeps how far it is: ids of records and numbers, no value and no key. */
const ROTATION_FILE = ".keelson/key-rotation.json";

/** How far a rotation came that was cut off; undefined when none was. It only saves time, so a damaged file counts as none. */
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
