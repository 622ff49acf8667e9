import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { sourceFiles } from "../support/source-files.ts";

const texts = new Map(sourceFiles("src", (path) => path.endsWith(".ts")).map(({ path, text }) => [path, text]));

/** Entry points of optional plugins, and the folder of each. */
const OPTIONAL = {
  audit: "src/plugins/audit/",
  dbos: "src/plugins/workflows/dbos/",
  idempotency: "src/plugins/idempotency/",
  jwt: "src/plugins/jwt-auth/",
  "rate-limit": "src/plugins/rate-limit/",
  studio: "src/plugins/studio/",
  telemetry: "src/plugins/telemetry/",
};

const IMPORT = /^(?:import|export) (type )?(?:\{([^}]*)\}|\*[^"]*|\w+) from "(\.[^"]+)";/gm;

/** Files whose values each file imports; type-only imports are removed by the compiler. */
const imports = new Map(
  [...texts].map(([path, text]) => [
    path,
    [...text.matchAll(IMPORT)]
      .filter(([, type, names]) => !type && !names?.split(",").every((name) => /^\s*(type\s.*)?$/.test(name)))
      .map(([, , , from]) => normalize(join(dirname(path), from as string))),
  ]),
);

/** Files that are loaded with a file, through static imports of values at any depth. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const imported of imports.get(file) ?? []) loadedWith(imported, seen);
  return seen;
}

function optionalIn(file: string): string[] {
  const loaded = [...loadedWith(file)];
  return Object.entries(OPTIONAL).flatMap(([name, folder]) =>
    loaded.some((path) => path.startsWith(folder)) ? [name] : [],
  );
}

describe("an optional plugin", () => {
  it.each(Object.entries(OPTIONAL))("%s is loaded by its own entry point and loads no other plugin", (name, folder) => {
    expect(optionalIn(`${folder}index.ts`)).toEqual([name]);
  });

  it.each([
    "src/index.ts",
    "src/plugin.ts",
    "src/driver.ts",
    "src/client/index.ts",
    "src/testing/index.ts",
    ...["express", "hono", "next", "node"].map((host) => `src/adapters/${host}/index.ts`),
  ])("is not loaded by %s", (file) => {
    expect(loadedWith(file).size).toBeGreaterThan(1);
    expect(optionalIn(file)).toEqual([]);
  });
});
