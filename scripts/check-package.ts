/**
 * Packs what `npm publish` would, installs it in an empty folder without any optional peer, and uses it there: every
 * subpath can be imported, the command writes a project, a strict project that checks the declarations of its libraries
 * compiles, and the client makes a small bundle for browsers.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleForBrowser } from "./browser-bundle.ts";

/** Compiled code and declarations, without source maps. */
/** Their types are those of a peer, without which they are of no use. */
const TYPED_BY_PEER: ReadonlySet<string> = new Set(["keelson/better-auth", "keelson/react-query"]);
const MAX_CODE_BYTES = 1_850_000;
/** What the package brings for browsers: the documentation page and the studio. */
const MAX_ASSET_BYTES = 2_200_000;
/** All of the studio, minified and compressed. */
const MAX_STUDIO_BYTES = 350_000;
const MAX_FILE_BYTES = 2_000_000;
/** All of the client, minified and compressed. */
const MAX_CLIENT_BYTES = 6_000;
/** The pages, and whose they are. */
const ASSETS = [
  ...["swagger-ui-bundle.js.gz", "swagger-ui.css.gz", "LICENSE", "NOTICE"].map((name) => `swagger-ui/${name}`),
  ...["studio.js", "studio.css", "LICENSE-preact"].map((name) => `studio/${name}`),
];
const ASSET = /^dist\/assets\/(swagger-ui|studio)\/[\w.-]+$/;

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const root = fileURLToPath(new URL("..", import.meta.url));
const consumer = mkdtempSync(join(tmpdir(), "keelson-package-"));
const npm = (cwd: string, ...args: string[]): string =>
  execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
const node = (...args: string[]): void => {
  execFileSync(process.execPath, args, { cwd: consumer, encoding: "utf8", stdio: ["ignore", "inherit", "inherit"] });
};

function fail(message: string): never {
  throw new Error(message);
}

function checkFiles({ files }: Packed): void {
  const expected =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/THIRD_PARTY_LICENSES\.txt|dist\/[\w-]+\.(js|d\.ts|js\.map)|templates\/.+)$/;
  const assets = files.filter(({ path }) => ASSET.test(path));
  const others = files.filter((file) => !assets.includes(file));
  const strangers = others.filter(({ path }) => !expected.test(path)).map(({ path }) => path);
  if (strangers.length > 0) fail(`the tarball has files that do not belong there: ${strangers.join(", ")}`);
  const needed = [
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "dist/THIRD_PARTY_LICENSES.txt",
    ...ASSETS.map((name) => `dist/assets/${name}`),
  ];
  const missing = needed.filter((name) => !files.some(({ path }) => path === name));
  if (missing.length > 0) fail(`the tarball lacks ${missing.join(", ")}`);
  const large = files.filter(({ size }) => size > MAX_FILE_BYTES).map(({ path }) => path);
  if (large.length > 0) fail(`no file may be larger than ${MAX_FILE_BYTES} bytes: ${large.join(", ")}`);
  const bytes = (of: Packed["files"]): number => of.reduce((total, { size }) => total + size, 0);
  const code = bytes(others.filter(({ path }) => path.endsWith(".js")));
  if (code > MAX_CODE_BYTES) fail(`${code} bytes of code; the limit is ${MAX_CODE_BYTES}`);
  if (bytes(assets) > MAX_ASSET_BYTES) fail(`${bytes(assets)} bytes of assets; the limit is ${MAX_ASSET_BYTES}`);
}

function checkImports(subpaths: readonly string[]): void {
  const script = subpaths.map(
    (name) => `if (Object.keys(await import("${name}")).length === 0) throw new Error("${name} is empty");`,
  );
  writeFileSync(join(consumer, "imports.mjs"), script.join("\n"));
  node("imports.mjs");
}

/** The command runs without any peer, and finds the templates that come with it. */
function checkCommand(): void {
  node("node_modules/keelson/dist/cli.js", "init", "project", "--host=next");
}

function checkDeclarations(subpaths: readonly string[]): void {
  const uses = subpaths.map(
    (name, index) => `import * as m${index} from "${name}";\nexport type M${index} = typeof m${index};`,
  );
  writeFileSync(join(consumer, "uses.ts"), uses.join("\n"));
  writeFileSync(
    join(consumer, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        lib: ["ES2023", "DOM"],
        module: "NodeNext",
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        types: [join(root, "node_modules/@types/node")],
      },
      files: ["uses.ts"],
    }),
  );
  for (const compiler of ["typescript", "typescript-6", "typescript-7"])
    node(join(root, "node_modules", compiler, "bin/tsc"), "--project", "tsconfig.json");
}

/** @returns the size of all that the studio's page may load, compressed */
function checkStudio(): number {
  const folder = join(consumer, "node_modules/keelson/dist/assets/studio");
  const files = readdirSync(folder).filter((name) => /\.(js|css)$/.test(name));
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
  if (bytes > MAX_STUDIO_BYTES) fail(`${bytes} bytes of studio, compressed; the limit is ${MAX_STUDIO_BYTES}`);
  return bytes;
}

/** @returns the size of the client in a browser, compressed */
async function checkClient(): Promise<number> {
  const code = await bundleForBrowser(join(consumer, "node_modules/keelson/dist/client.js"), join(consumer, "bundle"));
  const { length } = gzipSync(code);
  if (length > MAX_CLIENT_BYTES) fail(`${length} bytes of client, compressed; the limit is ${MAX_CLIENT_BYTES}`);
  return length;
}

try {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, unknown>;
  };
  const subpaths = Object.keys(manifest.exports)
    .filter((key) => key !== "./package.json")
    .map((key) => `${manifest.name}${key.slice(1)}`);
  const [packed] = JSON.parse(npm(root, "pack", "--json", "--pack-destination", consumer)) as [Packed];
  checkFiles(packed);
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  npm(consumer, "install", "--prefer-offline", "--no-audit", "--no-fund", `./${packed.filename}`);
  checkImports(subpaths);
  checkCommand();
  checkDeclarations(subpaths.filter((name) => !TYPED_BY_PEER.has(name)));
  const clientBytes = await checkClient();
  const studioBytes = checkStudio();
  console.log(
    `package: ${packed.files.length} files, ${subpaths.length} subpaths, installed and imported without peers; ${clientBytes} bytes of client and ${studioBytes} bytes of studio, compressed`,
  );
} catch (error) {
  console.error(`package: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(consumer, { recursive: true, force: true });
}
