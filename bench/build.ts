import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { LOADED_IN_ORDER } from "../scripts/loaded-in-order.ts";
import { beforeId, peers, peersAreInstalled, peersHint } from "./contenders.ts";
import { requirePackages } from "./packages.ts";

/** Where compiled files go, so that they find the packages of this folder; not under version control. */
export const outputFolder = fileURLToPath(new URL(".cache/servers/", import.meta.url));

// Beside their packages: a compiled server looks for those from where it is.
const peersFolder = fileURLToPath(new URL("peers/dist/", import.meta.url));

const isPeer = (id: string): boolean => peers.some((peer) => peer.id === id);

/** The compiled server of a contender. */
export const serverFile = (id: string): string => join(isPeer(id) ? peersFolder : outputFolder, `contender-${id}.mjs`);

/**
 * Compiles what runs in processes of its own. Measured code has to be what a user deploys: a loader that transpiles on the
 * fly also wraps each named closure (esbuild's `keepNames`), which would slow down the contenders whose source is here
 * and not those that come from `node_modules`.
 */
export async function buildServers(
  contenders: readonly string[],
  before: string | undefined,
  beforeOn = "keelson-node",
): Promise<void> {
  requirePackages();
  const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
  const present = contenders.filter((id) => id !== beforeId && !isPeer(id));
  await compile(outputFolder, {
    ...Object.fromEntries(present.map((id) => [`contender-${id}`, here(`contenders/${id}.ts`)])),
    probe: here("probe.ts"),
    load: here("load.ts"),
    customers: here("customers.ts"),
  });
  const others = contenders.filter(isPeer).map((id) => [`contender-${id}`, here(`peers/${id}/server.ts`)]);
  if (others.length > 0) await compile(peersFolder, Object.fromEntries(others));
  if (before === undefined) return;
  const folder = checkOut(before);
  // The name it had while `keelson-node` was the one on a Prisma client.
  const direct = join(folder, "bench/contenders/keelson-direct.ts");
  const isOld = beforeOn === "keelson-node" && existsSync(direct);
  const server = isOld ? direct : join(folder, `bench/contenders/${beforeOn}.ts`);
  await compile(outputFolder, { [`contender-${beforeId}`]: server }, join(folder, "tsconfig.json"));
}

/** The sources of a commit, below this checkout, so that they find its packages. */
function checkOut(commit: string): string {
  const folder = fileURLToPath(new URL("../.cache/bench-before/", import.meta.url));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = ["src", "bench", "tsconfig.json", "package.json"];
  const archive = execFileSync("git", ["archive", commit, ...files], { maxBuffer: 256 * 1024 * 1024 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  return folder;
}

/**
 * Compiles one benchmark that runs in a process of its own, and runs it there.
 * @param name file in this folder, without its extension
 * @param beside files that it starts, likewise
 */
export async function runCompiled(
  name: string,
  beside: readonly string[] = [],
  args: readonly string[] = [],
): Promise<void> {
  requirePackages();
  const outDir = `${outputFolder}${name}/`;
  const files = [name, ...beside].map((file) => [file, fileURLToPath(new URL(`${file}.ts`, import.meta.url))]);
  await compile(outDir, Object.fromEntries(files));
  execFileSync(process.execPath, [join(outDir, `${name}.mjs`), ...args], { stdio: "inherit" });
}

/**
 * Compiles what a peer adds to a benchmark, to the same place below `peers/dist/`; says how if the peers are missing.
 * @param file in `peers/`, without its extension
 */
export async function compilePeer(file: string): Promise<void> {
  if (!peersAreInstalled) return void process.stderr.write(`${peersHint}\n`);
  const source = fileURLToPath(new URL(`peers/${file}.ts`, import.meta.url));
  await compile(join(peersFolder, dirname(file)), { [basename(file)]: source });
}

async function compile(outDir: string, entry: Record<string, string>, tsconfig?: string): Promise<void> {
  await build({
    entry,
    outDir,
    ...(tsconfig && { tsconfig }),
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "node",
    skipNodeModulesBundle: true,
    noExternal: [LOADED_IN_ORDER],
    splitting: true,
    clean: tsconfig === undefined,
    config: false,
    dts: false,
    silent: true,
  });
}
