/**
 * Tries `examples/plugin-package` as its author and a user would: packs this package, installs it in a copy of the folder,
 * runs the types and tests there, packs the plugin, installs both in an empty folder, and calls the app of the plugin's
 * README over HTTP. `npm run build` comes first. `tsx scripts/try-plugin-package.ts`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { npm, pack, packageRoot, repository, userEnv } from "./packed-package.ts";

/** Milliseconds for the app to say where it listens. */
const PATIENCE = 60_000;
const SKIPPED = new Set(["node_modules", "dist", "package-lock.json"]);

const source = join(repository, "examples/plugin-package");
const place = mkdtempSync(join(tmpdir(), "keelson-plugin-"));

function fail(message: string): never {
  throw new Error(message);
}

const readManifest = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** The author's side: types, tests and build against the packed package. */
function tryAuthor(keelson: string): string {
  const folder = join(place, "plugin");
  cpSync(source, folder, { recursive: true, filter: (path) => !SKIPPED.has(basename(path)) });
  const manifest = readManifest(folder);
  manifest.devDependencies.keelson = `file:${keelson}`; // a version that is not published yet
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  npm(folder, "install", "--prefer-offline", "--no-audit", "--no-fund");
  npm(folder, "run", "types");
  npm(folder, "test");
  npm(folder, "run", "build"); // npm may be told to run no scripts when it packs
  const { tarball, files } = pack(folder, place);
  const strangers = files.filter((path) => !/^(package\.json|README\.md|LICENSE|dist\/[\w-]+\.(js|d\.ts))$/.test(path));
  if (strangers.length > 0) fail(`the plugin's tarball has files that do not belong there: ${strangers.join(", ")}`);
  for (const needed of ["README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"])
    if (!files.includes(needed)) fail(`the plugin's tarball lacks ${needed}`);
  return tarball;
}

/** The user's side: both packages, and what the README shows. */
async function tryUser(tarballs: readonly string[]): Promise<void> {
  const folder = join(place, "app");
  mkdirSync(folder);
  const { devDependencies } = readManifest(repository);
  const tools = ["typescript", "@types/node", "tsx"].map((name) => `${name}@${devDependencies[name]}`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
  npm(
    folder,
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    ...tarballs,
    ...tools,
    "@sindresorhus/transliterate@^2",
  );
  const readme = readFileSync(join(source, "README.md"), "utf8");
  for (const [, name, block] of readme.matchAll(/^```ts\n\/\/ ([\w-]+\.ts)\n([\s\S]*?)^```/gm))
    writeFileSync(join(folder, name as string), block as string);
  writeFileSync(
    join(folder, "shown.ts"),
    'import type { api } from "./app.js";\nimport { plugin } from "./transliterated.js";\n' +
      'export const slug: (typeof api.$Infer.Entities)["post"]["slug"] = "text";\nprocess.stdout.write(plugin.id);\n',
  );
  const options = ["--strict", "--module", "NodeNext", "--target", "ES2022", "--noEmit", "--types", "node"];
  npm(folder, "exec", "--", "tsc", ...options, "app.ts", "transliterated.ts", "shown.ts");
  if (npm(folder, "exec", "--", "tsx", "shown.ts") !== "keelson-plugin-slugs")
    fail("the transliterating plugin did not load");
  await tryApp(folder);
}

async function tryApp(folder: string): Promise<void> {
  const child = spawn(process.execPath, ["--import", "tsx", "app.ts"], {
    cwd: folder,
    env: { ...userEnv, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let text = "";
      setTimeout(() => reject(new Error("the app does not listen")), PATIENCE).unref();
      child.on("exit", () => reject(new Error("the app ended")));
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        const found = /Listening on (\S+)/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    const create = async (): Promise<{ slug: string }> => {
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"title":"Crème brûlée"}',
      };
      return (await (await fetch(`${url}/api/posts`, init)).json()) as { slug: string };
    };
    const made = (await Promise.all([create(), create(), create()])).map(({ slug }) => slug).sort();
    const found = await fetch(`${url}/api/posts/by-slug/creme-brulee-3`);
    const answered = `${found.status} ${made.join(" ")}`;
    if (answered !== "200 creme-brulee creme-brulee-2 creme-brulee-3") fail(`the app answered ${answered}`);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

try {
  if (!existsSync(join(packageRoot, "dist/index.js"))) fail("there is nothing to pack yet; run `npm run build` first");
  const { tarball } = pack(packageRoot, place);
  const plugin = tryAuthor(tarball);
  await tryUser([tarball, plugin]);
  console.log(
    `plugin package: ${basename(plugin)} was tested alone, packed, installed with ${basename(tarball)}, and called`,
  );
} catch (error) {
  console.error(`try-plugin-package: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
