// The public door: every name a user imports. Re-exports only.
export { expressAdapter } from "./adapters/express/index.ts";
export { serve } from "./adapters/node/index.ts";
export { memoryDriver } from "./drivers/memory/index.ts";
export {
  type AnyPrismaClient,
  type EmbeddedOptions,
  embedded,
  type PostgresOptions,
  type PrismaOptions,
  type PrismaSchemaOptions,
  postgres,
  prisma,
  toPrismaSchema,
} from "./drivers/prisma/index.ts";
export * from "./entity/index.ts";
export {
  type DefaultPluginOptions,
  defaultPlugins,
  defineConfig,
  type Keelson,
  type KeelsonConfig,
  keelson,
} from "./keelson.ts";
export * from "./kernel/index.ts";
export {
  crud,
  type ListOperators,
  type ListQuery,
  type ListValue,
  type ListWhere,
  type ParseQuery,
  type QueryParser,
  type QueryPart,
  serializeListQuery,
} from "./plugins/crud/index.ts";
export { health } from "./plugins/health/index.ts";
export {
  admin,
  all,
  authenticated,
  defineRule,
  everyone,
  owner,
  ownerOrAdmin,
  type Rule,
  type RuleContext,
  type RuleFunction,
  type RuleOptions,
  type RuleResult,
  rules,
} from "./plugins/rules/index.ts";
export { schema } from "./plugins/schema/index.ts";
export { validation } from "./plugins/validation/index.ts";
