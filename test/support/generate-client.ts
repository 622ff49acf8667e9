import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import type { AnyPrismaClient } from "../../src/drivers/prisma/index.ts";
import { toPrismaSchema } from "../../src/drivers/prisma/index.ts";
import type { EntityLike, Provider } from "../../src/entity/index.ts";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/keelson-test/", import.meta.url));
const VERSION = "7.10.0";

type Generator = typeof import("@prisma/client-generator-ts");
type ClientClass = new (options: Record<string, unknown>) => AnyPrismaClient;

/** The steps of `prisma generate`, without its command line, which would download an engine first. */
async function generate(schema: string, provider: Provider, folder: string): Promise<void> {
  // The package's ES modules import each other without extensions; its CommonJS modules work.
  const { generateClient, getDMMF } = createRequire(import.meta.url)("@prisma/client-generator-ts") as Generator;
  const schemaPath = join(folder, "schema.prisma");
  await generateClient({
    datamodel: schema,
    schemaPath,
    runtimeBase: "@prisma/client/runtime",
    outputDir: folder,
    generator: {
      name: "client",
      provider: { value: "prisma-client", fromEnvVar: null },
      output: { value: folder, fromEnvVar: null },
      config: {},
      binaryTargets: [],
      previewFeatures: [],
      sourceFilePath: schemaPath,
    },
    dmmf: await getDMMF({ datamodel: [["schema.prisma", schema]] }),
    datasources: [],
    binaryPaths: {},
    engineVersion: VERSION,
    clientVersion: VERSION,
    activeProvider: provider,
    target: "nodejs",
    generatedFileExtension: "ts",
    importFileExtension: "js",
    moduleFormat: "esm",
    tsNoCheckPreamble: true,
    compilerBuild: "fast",
  });
}

/** Node 20 does not run TypeScript. */
async function transpile(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  for (const name of files.filter((file) => file.endsWith(".ts"))) {
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true };
    const source = await readFile(join(folder, name), "utf8");
    const { outputText } = ts.transpileModule(source, { compilerOptions: options });
    await writeFile(join(folder, name.replace(/\.ts$/, ".js")), outputText);
  }
}

/** The class of a client that Prisma generated from the printed schema of these entities. */
export function generatedClient(entities: readonly EntityLike[], provider: Provider): Promise<ClientClass> {
  return clientOfSchema(toPrismaSchema(entities, { provider }), provider);
}

/** The class of a client that Prisma generated from a schema. */
export async function clientOfSchema(schema: string, provider: Provider): Promise<ClientClass> {
  const key = createHash("sha256").update(`${VERSION} ${provider} ${schema}`).digest("hex").slice(0, 16);
  const folder = join(CACHE, `client-${key}`);
  const entry = join(folder, "client.js");
  if (!existsSync(entry)) {
    // Made in a temporary folder and then moved, so that other processes never see a partial client.
    await mkdir(CACHE, { recursive: true });
    const draft = await mkdtemp(join(CACHE, "draft-"));
    await generate(schema, provider, draft);
    await transpile(draft);
    await writeFile(join(draft, "package.json"), '{ "type": "module" }\n');
    await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  }
  return ((await import(pathToFileURL(entry).href)) as { PrismaClient: ClientClass }).PrismaClient;
}
