import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Diagnosis } from "./diagnosis.ts";

/** Whether git would take in what is secret or private: the variables, and the embedded database. */
export async function checkIgnored(): Promise<readonly Diagnosis[]> {
  if (!existsSync(".git")) return [];
  const lines = (await readFile(".gitignore", "utf8").catch(() => "")).split("\n");
  // As they are usually written: `.env`, `/.env`, `.env*`, `.keelson/`.
  const ignored = new Set(lines.map((line) => line.trim().replace(/^\/|[/*]+$/g, "")));
  const open = [".env", ".keelson"].filter((name) => existsSync(name) && !ignored.has(name));
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
