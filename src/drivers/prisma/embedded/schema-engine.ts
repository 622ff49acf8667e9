import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type {
  bindMigrationAwareSqlAdapterFactory,
  SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import { createSerialQueue } from "../../../kernel/index.ts";

// Prisma's schema engine as WebAssembly. The package's own entry needs imports of .wasm files, which Node 20 has only
// behind a flag, so it is put together by hand.

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

/** How they are imported; see `loadPeers`. */
export const ENGINE_PACKAGES = {
  "@prisma/schema-engine-wasm/schema_engine_bg": () => import("@prisma/schema-engine-wasm/schema_engine_bg"),
  "@prisma/driver-adapter-utils": () => import("@prisma/driver-adapter-utils"),
} as const;

/** The version of the packages; what another one says of the same tables has to be asked anew. */
export const ENGINE_VERSION = "7.10.0";

/** The glue code knows one instance only, so there is one per process; it holds code, no database. */
let started: Promise<Bindings> | undefined;
const turns = createSerialQueue();

async function start(bindings: Bindings): Promise<Bindings> {
  const glue = bindings as Glue;
  const file = createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm/schema_engine_bg")
    .replace(/\.js$/, ".wasm");
  // The engine reports a panic here; Prisma's client installs the same when it is loaded.
  const shared = globalThis as { PRISMA_WASM_PANIC_REGISTRY?: { set_message(message: string): void } };
  shared.PRISMA_WASM_PANIC_REGISTRY ??= { set_message() {} };
  const { instance } = await WebAssembly.instantiate(await readFile(file), {
    "./schema_engine_bg.js": glue as unknown as WebAssembly.ModuleImports,
  });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return glue;
}

/** Begins to load the engine. */
export function startSchemaEngine(packages: EnginePackages): Promise<Bindings> {
  started ??= start(packages["@prisma/schema-engine-wasm/schema_engine_bg"]).catch((error: unknown) => {
    started = undefined;
    throw error;
  });
  return started;
}

/** Runs work with an engine; one at a time in the process. */
export function withSchemaEngine<T>(
  packages: EnginePackages,
  schema: string,
  factory: SqlMigrationAwareDriverAdapterFactory,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  return turns(async () => {
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

/** The schema's name among the engine's files; there is none on disk. */
export const SCHEMA_FILE = "schema.prisma";
