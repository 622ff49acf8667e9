import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exportedNames } from "../../scripts/api-reference/exported-names.ts";
import { entryPoints } from "../../scripts/api-reference/reference-pages.ts";
import { repositoryRoot } from "../support/source-files.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

/** All run-time exports, by subpath: adding or removing a name is a decision, and shows here. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  keelson: words(`
    ActionBuilder AuthenticationError AuthorizationError BadRequestError ConfigurationError ConflictError
    DatabaseError DatabaseUnavailableError DecryptionError EntityBuilder EntityNotFoundError InternalError
    KeelsonError MethodNotAllowedError PayloadTooLargeError PluginError PluginList PreconditionFailedError
    PreconditionRequiredError RateLimitedError ReferencedError Reply ScopedContainer ServiceContainer UnavailableError
    UnsupportedMediaTypeError ValidationFailedError WorkflowBuilder WorkflowFailedError action admin all archiveAction
    authenticated batch belongsTo bigint bool boolean bulkDeleteAction bulkUpdateAction bytes camelCase capitalize clearEncryptionKeys
    clearGlobalContainer cloneAction conflictError consoleLogger countAction countValuesPerKey createEnhancedDriver
    createEntityStep createPlugin createPluginFactory createPrefixedLogger createRemoteJoiner createScope
    createService date datetime decimal decryptValue defaultPlugins defineConfig defineRule deleteEntityStep detectPluginType email
    embedded encryptValue endpoint entity entityOfRecord enums everyone executeWorkflow existsAction exportAction
    expressAdapter fieldSecurity filterReadableFields filterWritableFields float forbiddenError generateEncryptionKey
    getEncryptionKeyId getGlobalContainer getLogger getRegisteredKeyIds getRemoteRelationFields handleError hasMany
    hasOne hasRemoteRelations hashPassword health honoAdapter httpService importAction initEncryption int
    internalError isEncrypted isKeelsonError isValidEntityName isValidIdentifier isValidPlugin journalEngine json
    jsonTyped kebabCase keelson lazyService manyToMany matchRoute memoryDriver memoryEngine needsRehash noopLogger
    notFoundError owner ownerOrAdmin pascalCase pluralize postgres prisma reEncryptRecord reEncryptValue
    registerEncryptionKey remoteJoins removeEncryptionKey resolveEntity restoreAction rotateEncryptionKeys runWorkflow
    schemaFromEntities selfRef setGlobalContainer setLogger setPrimaryEncryptionKey singularize snakeCase
    softDeleteAction splitIncludes step string tagRecord text time toNextHandler toPrismaSchema toggleAction
    unarchiveAction unauthorizedError updateEntityStep uuid validateCrossFields validateRemoteRelations validationError
    valuesNeeding verifyPassword withOptions workflow workflows
  `),
  "keelson/audit": words(`
    audit
  `),
  "keelson/better-auth": words(`
    accounts inOrganization organization user userFields
  `),
  "keelson/client": words(`
    KeelsonClientError clientRoutes createClient serializeListQuery
  `),
  "keelson/dbos": words(`
    dbosEngine
  `),
  "keelson/driver": words(`
    BadRequestError ConfigurationError ConflictError DatabaseError DatabaseUnavailableError EntityNotFoundError
    Fold ReferencedError UnavailableError ValidationFailedError askedOfStored canHold createSerialQueue defineDriver
    entityOf isRead matches rowBytes totalOrder withDeadline withMiddleware
  `),
  "keelson/express": words(`
    expressAdapter
  `),
  "keelson/hono": words(`
    honoAdapter
  `),
  "keelson/idempotency": words(`
    IdempotencyKeyInUseError IdempotencyKeyRequiredError IdempotencyKeyReusedError idempotency
  `),
  "keelson/jwt": words(`
    createTokenSigner jwtAuth
  `),
  "keelson/next": words(`
    toNextHandler
  `),
  "keelson/node": words(`
    gracefully serve toNodeHandler
  `),
  "keelson/openapi": words(`
    openapi openapiDocument
  `),
  "keelson/plugin": words(`
    BadRequestError ConfigurationError ConflictError EntityNotFoundError FieldChecks FieldRules PluginList QueryParser
    Reply RouteNotes RuleLists ValidationFailedError cancelBody createPlugin createPluginFactory defineKind
    describeError didYouMean endpoint entityOf narrowed refusal routeSegment schemaFromEntities token
    withMiddleware
  `),
  "keelson/prisma": words(`
    embedded openMigrations postgres prisma sharedAdapter toPrismaSchema
  `),
  "keelson/rate-limit": words(`
    databaseRateStore memoryRateStore rateLimit redisRateStore
  `),
  "keelson/react-query": words(`
    createQueries
  `),
  "keelson/studio": words(`
    studio
  `),
  "keelson/telemetry": words(`
    telemetry
  `),
  "keelson/testing": words(`
    createFakeKernel createTestApp driverContract recordingLogger
  `),
};

/** Sections 1.1 and 2.4 of the specification, as far as this release implements them. */
const SPECIFIED = words(`
    defineConfig keelson entity ServiceContainer resolveEntity
    string text int float bool boolean datetime json jsonTyped email
    belongsTo hasMany hasOne selfRef
    everyone authenticated owner admin ownerOrAdmin defineRule
    createPlugin createPluginFactory endpoint detectPluginType isValidPlugin schemaFromEntities
    KeelsonError EntityNotFoundError ValidationFailedError AuthenticationError AuthorizationError ConflictError PluginError
    ConfigurationError DatabaseError notFoundError validationError unauthorizedError forbiddenError conflictError
    internalError handleError
    matchRoute pluralize singularize
    ScopedContainer createScope createService lazyService getGlobalContainer setGlobalContainer
    getLogger setLogger noopLogger consoleLogger createPrefixedLogger
    capitalize pascalCase camelCase kebabCase snakeCase isValidIdentifier isValidEntityName
    createEnhancedDriver validateCrossFields filterReadableFields filterWritableFields
    hashPassword verifyPassword encryptValue decryptValue
    initEncryption generateEncryptionKey registerEncryptionKey setPrimaryEncryptionKey getRegisteredKeyIds reEncryptValue
    reEncryptRecord getEncryptionKeyId removeEncryptionKey
    expressAdapter prisma
    createRemoteJoiner hasRemoteRelations getRemoteRelationFields splitIncludes validateRemoteRelations
`);

describe("the package", () => {
  it("has only the listed subpaths", () => {
    const { exports } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
      exports: Record<string, unknown>;
    };
    const subpaths = Object.keys(exports).filter((key) => key !== "./package.json");
    expect(subpaths.map((key) => `keelson${key.slice(1)}`).sort()).toEqual(Object.keys(EXPORTS).sort());
  });

  it.each(Object.entries(EXPORTS))("exports from %s only the listed names", async (subpath, names) => {
    expect(Object.keys(await import(subpath)).sort()).toEqual(names);
  });

  it("exports from its root every name of the specification", () => {
    expect(SPECIFIED.filter((name) => !EXPORTS.keelson?.includes(name))).toEqual([]);
  });

  it("exports one class and one function under one name, from any subpath", async () => {
    const doors = await Promise.all(Object.keys(EXPORTS).map((subpath) => import(subpath) as Promise<object>));
    const values = new Map<string, Set<unknown>>();
    for (const door of doors)
      for (const [name, value] of Object.entries(door)) values.set(name, (values.get(name) ?? new Set()).add(value));
    expect([...values].filter(([, different]) => different.size > 1)).toEqual([]);
  });

  it("exports at most 220 names from the root, and 360 in all", () => {
    const named = Object.entries(entryPoints).map(
      ([door, file]) => [door, exportedNames(join(repositoryRoot, file)).map(({ name }) => name)] as const,
    );
    expect(Object.fromEntries(named).keelson?.length).toBeLessThanOrEqual(220);
    expect(new Set(named.flatMap(([, names]) => names)).size).toBeLessThanOrEqual(360);
  });
});
