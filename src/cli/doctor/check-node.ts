import { packageManifest } from "../package-root.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Whether this Node.js is one that the package runs on. */
export function checkNode(version: string = process.versions.node): Diagnosis {
  const [wanted = ""] = /\d+\.\d+/.exec(packageManifest().engines.node ?? "") ?? [];
  const [major = 0, minor = 0] = wanted.split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  const isEnough = ownMajor > major || (ownMajor === major && ownMinor >= minor);
  if (isEnough) return { check: "Node.js", state: "good", found: version };
  return { check: "Node.js", state: "bad", found: version, fix: `Install Node.js ${wanted} or newer` };
}
