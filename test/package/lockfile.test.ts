import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";

interface Locked {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, Locked>>;

function packagesIn(folder: string): Packages {
  const text = readFileSync(join(repositoryRoot, folder, "package-lock.json"), "utf8");
  return (JSON.parse(text) as { readonly packages: Packages }).packages;
}

/** Whether `name`, required by the package in folder `from`, is locked there or in a folder above it. */
function isLocked(packages: Packages, from: string, name: string): boolean {
  const folders = from
    .split("/node_modules/")
    .map((_, index, parts) => parts.slice(0, index + 1).join("/node_modules/"));
  return ["", ...folders].some((folder) => `${folder}${folder && "/"}node_modules/${name}` in packages);
}

describe.each([".", "bench"])("the lockfile in %s", (folder) => {
  const packages = packagesIn(folder);

  it("leaves the choice of a registry to npm", () => {
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  // `npm ci` refuses a lockfile without the packages of other platforms; `npm install` may leave them out.
  it("names the optional packages of every platform", () => {
    const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isLocked(packages, from, name)),
    );
    expect(missing).toEqual([]);
  });
});
