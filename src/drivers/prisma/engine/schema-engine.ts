import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type {
  bindMigrationAwareSqlAdapterFactory,
  SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import { ConfigurationError } from "../../../entity/index.ts";
import { createSerialQueue } from "../../../kernel/index.ts";
import { absent } from "./opening.ts";

// Prisma's schema engine as WebAssembly. The package's own entry imports .wasm files, which Node 20 supports only
// behind a flag, so the engine is instantiated here.

type Bindings = typeof import("@prisma/schema-engine-wasm/schema_engine_bg");
type Glue = Bindings & { __wbg_set_wasm(exports: WebAssembly.Exports): void };
/** An engine for one schema and one database. */
export type SchemaEngine = Awaited<ReturnType<Bindings["SchemaEngine"]["new"]>>;

/** The packages that the engine needs. */
export interface EnginePackages {
  readonly "@prisma/schema-engine-wasm/schema_engine_bg": Bindings;
  readonly "@prisma/driver-adapter-utils": {
    readonly bindMigrationAwareSqlAdapterFactory: typeof bindMigrationAwareSqlAdapterFactory;
  };
}

/** The imports of the packages; see `loadPeers`. */
export const ENGINE_PACKAGES = {
  "@prisma/schema-engine-wasm/schema_engine_bg": () =>
    import("@prisma/schema-engine-wasm/schema_engine_bg").catch(absent),
  "@prisma/driver-adapter-utils": () => import("@prisma/driver-adapter-utils").catch(absent),
} as const;

/** The version of the packages; another version must compare the tables again. */
export const ENGINE_VERSION = "7.10.0";

/** The schema's name among the engine's files; not a file on disk. */
export const SCHEMA_FILE = "schema.prisma";

/** Starts loading the engine. */
export function startSchemaEngine(packages: EnginePackages): Promise<Bindings> {
  const engine = loadedEngine();
  engine.started ??= start(packages["@prisma/schema-engine-wasm/schema_engine_bg"]).catch((error: unknown) => {
    engine.started = undefined;
    throw error;
  });
  return engine.started;
}

/** Runs work with an engine, one at a time per process. */
export function withSchemaEngine<T>(
  packages: EnginePackages,
  schema: string,
  factory: SqlMigrationAwareDriverAdapterFactory,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  return loadedEngine().turns(async () => {
    const { SchemaEngine } = await startSchemaEngine(packages);
    const { bindMigrationAwareSqlAdapterFactory } = packages["@prisma/driver-adapter-utils"];
    const bound = bindMigrationAwareSqlAdapterFactory(factory) as unknown as Parameters<typeof SchemaEngine.new>[2];
    const engine = await SchemaEngine.new({ datamodels: [[SCHEMA_FILE, schema]] }, () => {}, bound);
    try {
      return await work(engine);
    } finally {
      engine.free();
    }
  });
}

/** The engine's code, once loaded, and the queue of its users. It holds no database. */
interface LoadedEngine {
  started: Promise<Bindings> | undefined;
  readonly turns: ReturnType<typeof createSerialQueue>;
}

const LOADED = Symbol.for("keelson.schemaEngines");

/**
 * Returns the engine shared by the process. The glue code supports only one instance, and a second one breaks the
 * first. So there is one per copy of the engine's package, even if this module is loaded several times (by bundlers and
 * development servers).
 */
function loadedEngine(): LoadedEngine {
  const shared = globalThis as { [LOADED]?: Map<string, LoadedEngine> };
  shared[LOADED] ??= new Map();
  const file = wasmFile();
  const known = shared[LOADED].get(file);
  if (known !== undefined) return known;
  const made: LoadedEngine = { started: undefined, turns: createSerialQueue() };
  shared[LOADED].set(file, made);
  return made;
}

function wasmFile(): string {
  return createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm/schema_engine_bg")
    .replace(/\.js$/, ".wasm");
}

/**
 * The functions that the engine imports. It starts a timer of 60 s for each command and never clears it. The timers are
 * unref'ed, so that they do not keep the process alive.
 */
function importsOf(glue: Glue): WebAssembly.ModuleImports {
  const imports = { ...glue } as unknown as Record<string, WebAssembly.ImportValue>;
  for (const name of Object.keys(imports))
    if (name.startsWith("__wbg_setTimeout_"))
      imports[name] = (work: () => void, ms: number) => setTimeout(work, ms >>> 0).unref();
  return imports;
}

async function start(bindings: Bindings): Promise<Bindings> {
  const glue = bindings as Glue;
  // The engine reports panics here; Prisma's client installs the same when it is loaded.
  const shared = globalThis as { PRISMA_WASM_PANIC_REGISTRY?: { set_message(message: string): void } };
  shared.PRISMA_WASM_PANIC_REGISTRY ??= { set_message() {} };
  const { instance } = await WebAssembly.instantiate(await readFile(wasmFile()), {
    "./schema_engine_bg.js": importsOf(glue),
  });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return glue;
}

/** The part of Prisma's parser that is used; it throws an Error whose message is a report. */
interface SchemaParser {
  validate(parameters: string): void;
}

/**
 * Loads the parser that get-dmmf depends on. get-dmmf itself takes seven times as long, and its result is only needed
 * by generators.
 * @throws Error of Node when a package is not installed
 */
async function requireParser(): Promise<SchemaParser> {
  const ours = createRequire(import.meta.url);
  return createRequire(ours.resolve("@prisma/get-dmmf"))("@prisma/prisma-schema-wasm") as SchemaParser;
}

/** The import of the schema parser; see `loadPeers`. */
export const SCHEMA_PACKAGES = { "@prisma/get-dmmf": requireParser } as const;

/**
 * Validates a schema like Prisma does.
 * @throws ConfigurationError for schemas that Prisma does not accept (P1012), such as reserved names and cycles it
 *   cannot delete
 */
export function checkSchema(parser: SchemaParser, schema: string): void {
  try {
    parser.validate(JSON.stringify({ prismaSchema: [[SCHEMA_FILE, schema]], noColor: true }));
  } catch (error) {
    throw new ConfigurationError(sentencesOf(error as Error, schema));
  }
}

/** One message per problem of Prisma's report, with the schema line. The report is in the message of an error. */
function sentencesOf({ message }: Error, schema: string): string[] {
  let report = message;
  try {
    report = (JSON.parse(message) as { readonly message: string }).message;
  } catch {} // the message was the report itself
  const lines = schema.split("\n");
  const problems = report.matchAll(/^error: (?:Error (?:validating|parsing)[^:]*: )?(.*)\n.*:(\d+)$/gm);
  const sentences = [...problems].map(
    ([, problem, line]) => `Prisma refuses “${lines[Number(line) - 1]?.trim()}” (P1012): ${problem}`,
  );
  return sentences.length > 0 ? [...new Set(sentences)] : ["Prisma refuses the schema of the entities (P1012)"];
}
