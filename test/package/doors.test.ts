import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";
import { sourceFiles } from "../support/source-files.ts";

const IMPORT = /^(?:import|export)(?: type)? \{([^}]*)\} from "([^"]+)";/gm;
const DOORS = ["kernel", "gate", "entity"].map((room) => normalize(`src/${room}/index.ts`));

/** `export *` in src/kernel.ts. */
const ROOMS_PUBLISHED = ["entity", "gate"].map((room) => normalize(`src/${room}/index.ts`));

const namesIn = (list: string): string[] =>
  list
    .split(",")
    .map(
      (name) =>
        name
          .trim()
          .replace(/^type /, "")
          .split(" as ")[0] as string,
    )
    .filter((name) => name !== "");

it("keelson/kernel has every name that first-party plugins, drivers and adapters import", () => {
  const published = new Set(
    sourceFiles("src", (path) => path === "src/kernel.ts" || ROOMS_PUBLISHED.includes(path)).flatMap(({ text }) =>
      [...text.matchAll(IMPORT)].flatMap(([, names]) => namesIn(names as string)),
    ),
  );
  const used = ["plugins", "drivers", "adapters"]
    .flatMap((room) => sourceFiles(`src/${room}`, (path) => path.endsWith(".ts")))
    .flatMap(({ path, text }) =>
      [...text.matchAll(IMPORT)]
        .filter(([, , from]) => DOORS.includes(join(dirname(path), from as string)))
        .flatMap(([, names]) => namesIn(names as string)),
    );
  expect(published.size).toBeGreaterThan(100);
  expect(used.length).toBeGreaterThan(100);
  expect([...new Set(used)].filter((name) => !published.has(name))).toEqual([]);
});
