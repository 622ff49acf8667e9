import type { SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import type { Provider } from "../../../entity/index.ts";
import type { Client } from "../client-shape.ts";
import { parseSchema } from "./parse-schema.ts";

// `prisma generate` writes a configuration to a file and passes it to `getPrismaClient`; here the same configuration is
// made in memory. From there on, what runs is Prisma's client. None of these exports is public, hence the exact pins.

/** The packages that a client is built with. */
export interface BuildPackages {
  readonly "@prisma/client/runtime/client": typeof import("@prisma/client/runtime/client");
  readonly "@prisma/get-dmmf": typeof import("@prisma/get-dmmf");
  readonly "@prisma/param-graph-builder": typeof import("@prisma/param-graph-builder");
}

/** How they are imported; see `loadPeers`. */
export const BUILD_PACKAGES: { readonly [Name in keyof BuildPackages]: () => Promise<BuildPackages[Name]> } = {
  "@prisma/client/runtime/client": () => import("@prisma/client/runtime/client"),
  "@prisma/get-dmmf": () => import("@prisma/get-dmmf"),
  "@prisma/param-graph-builder": () => import("@prisma/param-graph-builder"),
};

type ClientConstructor = new (options: {
  readonly adapter: SqlDriverAdapterFactory;
  readonly errorFormat: "minimal";
}) => Client;
type ClientConfig = Parameters<BuildPackages["@prisma/client/runtime/client"]["getPrismaClient"]>[0];

const VERSION = "7.10.0";

/** Code, not state: every client of a provider runs the same compiler. */
const compilers = new Map<Provider, Promise<WebAssembly.Module>>();

/** The small build: a third less to start with, and no slower at compiling a query. */
function compilerPath(provider: Provider): string {
  return `@prisma/client/runtime/query_compiler_small_bg.${provider}`;
}

/** Begins to compile Prisma's query compiler beside the main thread, which has enough to do meanwhile. */
export function compileCompiler(provider: Provider): Promise<WebAssembly.Module> {
  let compiling = compilers.get(provider);
  if (compiling === undefined) {
    compiling = importCompiler(provider);
    compilers.set(provider, compiling);
    compiling.catch(() => compilers.delete(provider)); // whoever needs it hears of it
  }
  return compiling;
}

async function importCompiler(provider: Provider): Promise<WebAssembly.Module> {
  const { wasm } = (await import(`${compilerPath(provider)}.wasm-base64.mjs`)) as { readonly wasm: string };
  return WebAssembly.compile(Buffer.from(wasm, "base64"));
}

/**
 * A PrismaClient for a schema, without `prisma generate`.
 * @throws ConfigurationError when Prisma does not accept the schema
 */
export function buildClient(
  packages: BuildPackages,
  schema: string,
  provider: Provider,
  adapter: SqlDriverAdapterFactory,
): Client {
  const { getPrismaClient, dmmfToRuntimeDataModel } = packages["@prisma/client/runtime/client"];
  const dmmf = parseSchema(packages["@prisma/get-dmmf"], schema);
  const config: ClientConfig = {
    previewFeatures: [],
    clientVersion: VERSION,
    engineVersion: VERSION,
    activeProvider: provider,
    inlineSchema: schema,
    runtimeDataModel: dmmfToRuntimeDataModel(dmmf.datamodel as Parameters<typeof dmmfToRuntimeDataModel>[0]),
    parameterizationSchema: packages["@prisma/param-graph-builder"].buildAndSerializeParamGraph(dmmf),
    compilerWasm: {
      getRuntime: () => import(`${compilerPath(provider)}.mjs`),
      getQueryCompilerWasmModule: () => compileCompiler(provider),
      importName: "./query_compiler_small_bg.js",
    },
  };
  const PrismaClient = getPrismaClient(config) as unknown as ClientConstructor;
  // "minimal": the other formats read source files to show where the call was.
  return new PrismaClient({ adapter, errorFormat: "minimal" });
}
