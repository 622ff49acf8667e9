import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Diagnosis } from "./diagnosis.ts";

/** Whether git would take in what is secret or private: the variables, and the embedded database. */
export async function checkIgnored(): Promise<readonly Diagnosis[]> {
  const present = [".env", ".keelson"].filter((name) => existsSync(name));
  const ignored = await Promise.all(present.map(isIgnored));
  // No git, or no repository of git's.
  if (ignored.includes(undefined)) return [];
  const open = present.filter((_, index) => ignored[index] === false);
  if (open.length === 0) return [{ check: "Secrets", state: "good", found: "git ignores them" }];
  return [
    {
      check: "Secrets",
      state: "bad",
      found: `git would take in ${open.join(" and ")}`,
      fix: `Add to .gitignore: ${open.join(", ")}`,
    },
  ];
}

/** What git itself says: its patterns come from several files, and later ones take back what earlier ones said. */
async function isIgnored(name: string): Promise<boolean | undefined> {
  const child = spawn("git", ["check-ignore", "--quiet", name], { stdio: "ignore" });
  const [code] = (await once(child, "close").catch(() => [])) as readonly unknown[];
  return code === 0 || code === 1 ? code === 0 : undefined;
}
