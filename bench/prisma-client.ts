import { PrismaPg } from "@prisma/adapter-pg";
import { dmmfToRuntimeDataModel, type GetPrismaClientConfig, getPrismaClient } from "@prisma/client/runtime/client";
import { getInternalDMMF } from "@prisma/get-dmmf";
import { buildAndSerializeParamGraph } from "@prisma/param-graph-builder";
import { benchDatabaseUrl, poolSize } from "./database.ts";
import { type Invoice, type Post, prismaSchema } from "./model.ts";

/** A post as Prisma returns it: dates are `Date`s. */
export type PostRecord = Omit<Post, "createdAt" | "updatedAt"> & { readonly createdAt: Date; readonly updatedAt: Date };

/** The conditions that the hand-written contenders use. */
export interface PostWhere {
  readonly id?: { readonly gt: string } | { readonly in: readonly string[] };
  readonly published?: boolean;
  readonly authorId?: string;
  readonly views?: { readonly lte: number };
}

/** The calls that the hand-written contenders make; a generated client would type these and many more. */
export interface PostDelegate {
  findUnique(args: { where: { id: string } }): Promise<PostRecord | null>;
  findMany(args: {
    where: PostWhere;
    orderBy?: { [field: string]: "asc" | "desc" };
    skip?: number;
    take: number;
    include?: { author: true };
  }): Promise<PostRecord[]>;
  count(args: { where: PostWhere }): Promise<number>;
  create(args: {
    data: Pick<Post, "title" | "body" | "authorId"> & Partial<Pick<Post, "published" | "views">>;
  }): Promise<PostRecord>;
  update(args: { where: { id: string }; data: PostChange }): Promise<PostRecord>;
  updateMany(args: { where: PostWhere; data: PostChange }): Promise<{ count: number }>;
}

type PostChange = Partial<Pick<Post, "title" | "body" | "published" | "views">>;

/** What the hand-written contenders ask of invoices. */
export interface InvoiceDelegate {
  findMany(args: { orderBy?: { [field: string]: "asc" | "desc" }; skip: number; take: number }): Promise<Invoice[]>;
}

/** The part of a PrismaClient that the contenders use. */
export interface BenchPrismaClient {
  readonly post: PostDelegate;
  readonly invoice: InvoiceDelegate;
}

// Not a literal in the import itself: Prisma ships these files without types.
const queryCompiler: string = "@prisma/client/runtime/query_compiler_fast_bg.postgresql";

/**
 * A PrismaClient for the bench's model with the options of Prisma's own quick start and the bench's pool.
 * `prisma generate` writes this same configuration to a file; here it is built in memory, because generating needs a
 * CLI that downloads an engine first. From `getPrismaClient` on, the code that runs is that of a generated client.
 */
export function createPrismaClient(): BenchPrismaClient {
  // The internal form, as Prisma's generators use it. From the plain one the parameter graph has no roots for create and update,
  // and every such call is compiled anew because the plan cache never hits.
  const dmmf = getInternalDMMF({ datamodel: [["schema.prisma", prismaSchema]] });
  if ("error" in dmmf) throw dmmf.error;
  const config: GetPrismaClientConfig = {
    previewFeatures: [],
    clientVersion: "7.10.0",
    engineVersion: "7.10.0",
    activeProvider: "postgresql",
    inlineSchema: prismaSchema,
    runtimeDataModel: dmmfToRuntimeDataModel(dmmf.datamodel as Parameters<typeof dmmfToRuntimeDataModel>[0]),
    parameterizationSchema: buildAndSerializeParamGraph(dmmf),
    compilerWasm: {
      getRuntime: () => import(`${queryCompiler}.mjs`),
      getQueryCompilerWasmModule: async () => {
        const { wasm } = (await import(`${queryCompiler}.wasm-base64.mjs`)) as { wasm: string };
        return new WebAssembly.Module(Buffer.from(wasm, "base64"));
      },
      importName: "./query_compiler_fast_bg.js",
    },
  };
  const PrismaClient = getPrismaClient(config) as unknown as new (options: { adapter: PrismaPg }) => BenchPrismaClient;
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: benchDatabaseUrl(), max: poolSize }) });
}
