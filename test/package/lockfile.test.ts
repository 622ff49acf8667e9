import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";

interface Locked {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(repositoryRoot, "package-lock.json"), "utf8");
const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, Locked>> };

/** Whether `name`, required by the package in folder `from`, is locked there or in a folder above it. */
function isLocked(from: string, name: string): boolean {
  const folders = from
    .split("/node_modules/")
    .map((_, index, parts) => parts.slice(0, index + 1).join("/node_modules/"));
  return ["", ...folders].some((folder) => `${folder}${folder && "/"}node_modules/${name}` in packages);
}

describe("the lockfile", () => {
  it("leaves the choice of a registry to npm", () => {
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  // `npm ci` refuses a lockfile without the packages of other platforms; `npm install` may leave them out.
  it("names the optional packages of every platform", () => {
    const missing = Object.entries(packages).flatMap(([folder, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isLocked(folder, name)),
    );
    expect(missing).toEqual([]);
  });
});
