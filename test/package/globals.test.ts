import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { builtPackage } from "../cli/built-package.ts";

const SCRIPT = `
  const names = () => [globalThis, Reflect].flatMap((one) => Object.getOwnPropertyNames(one));
  const before = new Set(names());
  await import(process.argv[1]);
  console.log(JSON.stringify(names().filter((name) => !before.has(name))));`;

it.each(["index", "plugin", "testing"])("importing dist/%s.js adds no globals, except zod's settings", async (name) => {
  const file = pathToFileURL(join(await builtPackage(), `dist/${name}.js`)).href;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT, file], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual(["__zod_globalConfig", "__zod_globalRegistry"]);
});

it("importing Keelson keeps a Reflect.getMetadata that the app has loaded before", async () => {
  const file = pathToFileURL(join(await builtPackage(), "dist/index.js")).href;
  const script = `
    const getMetadata = () => "own";
    Object.assign(Reflect, { getMetadata });
    await import(process.argv[1]);
    console.log(Reflect.getMetadata === getMetadata);`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script, file], { encoding: "utf8" });
  expect(stdout.trim()).toBe("true");
});
