import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isKeelsonError } from "../../entity/index.ts";
import { lintApp } from "../lint/lint-rules.ts";
import { loadProject, type Project, partsOf } from "../project/load-project.ts";
import { withDriver, withIdleApp } from "../project/with-idle-app.ts";
import { keelsonVersion, packageManifest } from "../shell/package-root.ts";

/** Packages that create and change tables, for any database. */
const TABLES = ["@prisma/driver-adapter-utils", "@prisma/get-dmmf", "@prisma/schema-engine-wasm"];
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  embedded: [...TABLES, "@prisma/adapter-libsql"],
  postgres: [...TABLES, "@prisma/adapter-pg"],
};

/** Checks that the packages of the project's driver are installed, in matching versions. */
async function checkPackages({ config, file }: Project): Promise<Diagnosis> {
  const { peerDependencies, devDependencies } = packageManifest();
  const wrong: string[] = [];
  for (const name of PACKAGES[config.driver?.name ?? "embedded"] ?? []) {
    const version = await installedVersion(name, file);
    if (!fits(version, peerDependencies[name] as string)) wrong.push(`${name}@${devDependencies[name]}`);
  }
  if (wrong.length === 0) return { check: "Packages", state: "good", found: "all there" };
  return {
    check: "Packages",
    state: "bad",
    found: `${wrong.length} missing, or of a version that does not fit`,
    fix: `Run: npm i ${wrong.join(" ")}`,
  };
}

/** Whether a version is in a range of the forms that this package uses: one version, or `^` and the lowest one. */
export function fits(version: string | undefined, range: string): boolean {
  if (version === undefined || !range.startsWith("^")) return version === range;
  const [given, lowest] = [version, range.slice(1)].map((text) =>
    text.split(".").map((part) => Number.parseInt(part, 10)),
  );
  const order = (given ?? []).map((part, index) => part - (lowest?.[index] ?? 0));
  return order[0] === 0 && (order.find((difference) => difference !== 0) ?? 0) >= 0;
}

/**
 * The version of a package that the project would load. Found by folder, because packages do not have to export their
 * manifest.
 */
async function installedVersion(name: string, file: string): Promise<string | undefined> {
  for (const folder of createRequire(file).resolve.paths(name) ?? []) {
    const text = await readFile(join(folder, name, "package.json"), "utf8").catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as { readonly version: string }).version;
  }
  return undefined;
}

/** Runs all checks, as far as possible: later ones depend on earlier ones. */
export async function examine(config: string | undefined): Promise<readonly Diagnosis[]> {
  const found: Diagnosis[] = [checkNode()];
  try {
    const project = await loadProject(config);
    found.push(await checkCopies(project), await checkPackages(project), await checkApp(project));
    found.push(...(await checkIgnored()));
    if (found.every(({ state }) => state !== "bad")) found.push(...(await checkDatabase(project)));
  } catch (error) {
    // An invalid configuration is a finding.
    if (!isKeelsonError(error)) throw error;
    found.push({ check: "Configuration", state: "bad", found: error.message, fix: "Repair what it names" });
  }
  return found;
}

async function checkApp(project: Project): Promise<Diagnosis> {
  const { parts, findings } = await withIdleApp(project, (app) => ({
    parts: partsOf(app),
    findings: lintApp(app, project.config),
  }));
  const warnings = findings.filter(({ level }) => level === "warning").length;
  const found = `${parts.model.entities.length} entities, ${parts.routes.length} routes`;
  if (warnings === 0) return { check: "Configuration", state: "good", found };
  return {
    check: "Configuration",
    state: "doubtful",
    found: `${found}, ${warnings} warnings`,
    fix: "Run: keelson lint",
  };
}

/** Whether the package supports this Node.js. */
export function checkNode(version: string = process.versions.node): Diagnosis {
  const [wanted = ""] = /\d+\.\d+/.exec(packageManifest().engines.node ?? "") ?? [];
  const [major = 0, minor = 0] = wanted.split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  const isEnough = ownMajor > major || (ownMajor === major && ownMinor >= minor);
  if (isEnough) return { check: "Node.js", state: "good", found: version };
  return { check: "Node.js", state: "bad", found: version, fix: `Install Node.js ${wanted} or newer` };
}

/** Checks that the command and the project's library have the same version. */
async function checkCopies({ file }: Project): Promise<Diagnosis> {
  const own = keelsonVersion();
  // The manifest is next to `dist`, which contains the main entry.
  const manifest = join(dirname(createRequire(file).resolve("keelson")), "../package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { readonly version: string };
  if (version === own) return { check: "Keelson", state: "good", found: version };
  return {
    check: "Keelson",
    state: "doubtful",
    found: `the project uses ${version}, this command is ${own}`,
    fix: "Run the project's own command: npx keelson",
  };
}

/** Checks that the database responds and matches the entities. */
async function checkDatabase(project: Project): Promise<readonly Diagnosis[]> {
  try {
    return await withDriver(project, async ({ driver }) => {
      await driver.ping();
      const answers: Diagnosis = { check: "Database", state: "good", found: `${driver.name} responds` };
      if (driver.schema === undefined) return [answers];
      const differences = await driver.schema.pending();
      if (differences.length === 0)
        return [answers, { check: "Tables", state: "good", found: "they fit the entities" }];
      const found = `${differences.length} differences: ${differences.slice(0, 3).join("; ")}${differences.length > 3 ? "; …" : ""}`;
      return [
        answers,
        { check: "Tables", state: "doubtful", found, fix: "Run: keelson dev, keelson db push or keelson migrate dev" },
      ];
    });
  } catch (error) {
    if (!isKeelsonError(error)) throw error;
    return [{ check: "Database", state: "bad", found: error.message, fix: "Check that it runs, and its address" }];
  }
}

/** Checks that git does not track private files: the variables, and the embedded database. */
async function checkIgnored(): Promise<readonly Diagnosis[]> {
  const present = [".env", ".keelson"].filter((name) => existsSync(name));
  const ignored = await Promise.all(present.map(isIgnored));
  // git is not installed, or the folder is not a repository.
  if (ignored.includes(undefined)) return [];
  const open = present.filter((_, index) => ignored[index] === false);
  if (open.length === 0) return [{ check: "Secrets", state: "good", found: "git ignores them" }];
  return [
    {
      check: "Secrets",
      state: "bad",
      found: `git would take in ${open.join(" and ")}`,
      fix: `Add to .gitignore: ${open.join(", ")}`,
    },
  ];
}

/** Runs git, because its patterns come from several files, and later ones override earlier ones. */
async function isIgnored(name: string): Promise<boolean | undefined> {
  const child = spawn("git", ["check-ignore", "--quiet", name], { stdio: "ignore" });
  const [code] = (await once(child, "close").catch(() => [])) as readonly unknown[];
  return code === 0 || code === 1 ? code === 0 : undefined;
}

/** The result of a check. */
export interface Diagnosis {
  /** The name of the check. */
  readonly check: string;
  /** "bad" fails the command. */
  readonly state: "good" | "doubtful" | "bad";
  readonly found: string;
  /** The remedy, unless the state is "good". */
  readonly fix?: string;
}
