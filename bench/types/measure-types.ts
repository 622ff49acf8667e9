import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateSource } from "./generate.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the compiler says about itself. */
export interface Diagnostics {
  readonly types: number;
  readonly instantiations: number;
  /** Seconds. */
  readonly checkTime: number;
  /** Seconds, reading and binding of all files included. */
  readonly totalTime: number;
  /** Megabytes. */
  readonly memory: number;
}

function figure(output: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(output)?.[1];
  if (found === undefined) throw new Error(`the compiler did not say "${name}":\n${output}`);
  return Number(found);
}

/** What is measured besides the app. */
export interface MeasureOptions {
  /** Whether a client over HTTP uses each entity, too. @default false */
  readonly client?: boolean;
}

/**
 * Type-checks a generated app with the project's compiler and options.
 * @param count Number of entities
 * @throws Error with the compiler's report when the app does not type-check
 */
export function measureTypes(count: number, { client = false }: MeasureOptions = {}): Diagnostics {
  const folder = mkdtempSync(join(tmpdir(), "keelson-types-"));
  try {
    const doors = {
      entity: join(root, "src/entity/index.ts"),
      keelson: join(root, "src/keelson.ts"),
      client: client ? join(root, "src/client/index.ts") : undefined,
    };
    writeFileSync(join(folder, "app.mts"), generateSource(count, doors));
    const config = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: { typeRoots: [join(root, "node_modules/@types")] },
      include: ["app.mts"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const output = compile(folder);
    return {
      types: figure(output, "Types"),
      instantiations: figure(output, "Instantiations"),
      checkTime: figure(output, "Check time"),
      totalTime: figure(output, "Total time"),
      memory: Math.round(figure(output, "Memory used") / 1024),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compile(folder: string): string {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  try {
    return execFileSync(process.execPath, [compiler, "--project", folder, "--extendedDiagnostics"], {
      encoding: "utf8",
    });
  } catch (error) {
    throw new Error(`the generated app does not type-check:\n${(error as { stdout: string }).stdout.slice(0, 4_000)}`);
  }
}

/** What the entities of an app cost, without what importing Keelson costs anyway. */
export function costOfEntities(
  count: number,
  empty: Diagnostics = measureTypes(0),
  options: MeasureOptions = {},
): Diagnostics {
  const full = measureTypes(count, options);
  return {
    types: full.types - empty.types,
    instantiations: full.instantiations - empty.instantiations,
    checkTime: full.checkTime - empty.checkTime,
    totalTime: full.totalTime - empty.totalTime,
    memory: full.memory - empty.memory,
  };
}
