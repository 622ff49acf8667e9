import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { builtPackage } from "../cli/built-package.ts";

it("a script with an invalid configuration prints all problems first", async () => {
  const index = pathToFileURL(join(await builtPackage(), "dist/index.js")).href;
  const folder = await mkdtemp(join(tmpdir(), "keelson-script-"));
  const file = join(folder, "script.mjs");
  await writeFile(
    file,
    `import { entity, keelson, memoryDriver, string } from ${JSON.stringify(index)};
const note = entity("note", { title: string }).rules({ read: ["evryone"], create: ["public"] });
keelson({ entities: [note], driver: memoryDriver(), getuser: () => null, isAdmin: 3 });
`,
  );
  const { stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  await rm(folder, { recursive: true });
  expect(status).toBe(1);
  expect(stderr.trimStart()).toMatch(
    /^ConfigurationError(?: \[CONFIGURATION_ERROR\])?: 4 problems in the configuration:/,
  );
  expect(stderr).toContain('there is no option "getuser". Did you mean "getUser"?');
  expect(stderr).toContain("`isAdmin` must be a function");
  expect(stderr).toContain('note.rules.read: there is no rule "evryone". Did you mean "everyone"?');
  expect(stderr).toContain('note.rules.create: there is no rule "public". There are: everyone, authenticated,');
  expect(stderr.length).toBeLessThan(2_000);
});
