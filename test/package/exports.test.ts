import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

/** What can be imported at run time, by subpath: a name that comes or goes is a decision, and shows here. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  keelson: words(`
    ActionBuilder AuthenticationError AuthorizationError BadRequestError ConfigurationError ConflictError
    DEFAULT_LIMITS DatabaseError DatabaseUnavailableError DecryptionError EntityNotFoundError IdempotencyKeyInUseError
    IdempotencyKeyRequiredError IdempotencyKeyReusedError InternalError KeelsonError MethodNotAllowedError PayloadTooLargeError PluginError PluginList PreconditionFailedError
    PreconditionRequiredError RateLimitedError ReferencedError Reply ScopedContainer ServiceContainer UnavailableError
    UnsupportedMediaTypeError ValidationFailedError WorkflowBuilder WorkflowFailedError action actions admin all
    archiveAction audit authenticated belongsTo bool boolean bulkDeleteAction bulkUpdateAction camelCase capitalize
    clearEncryptionKeys clearGlobalContainer cloneAction conflictError consoleLogger countAction
    countValuesPerKey createEnhancedDriver createEntityStep createKeyRing createPasswordHasher createPlugin
    createPluginFactory createPrefixedLogger createRemoteJoiner createScope createService createTokenSigner crud
    databaseRateStore datetime dbosEngine decryptValue defaultPlugins defineConfig defineRule deleteEntityStep detectPluginType
    email embedded encryptValue endpoint entity entityOfRecord enums everyone executeWorkflow existsAction
    exportAction expressAdapter fieldSecurity filterReadableFields filterWritableFields float forbiddenError
    generateEncryptionKey getEncryptionKeyId getGlobalContainer getLogger getRegisteredKeyIds
    getRemoteRelationFields gracefully handleError hasMany hasOne hasRemoteRelations hashPassword health
    honoAdapter httpService idempotency importAction initEncryption int internalError isEncrypted isKeelsonError
    isValidEntityName isValidIdentifier isValidPlugin journalEngine json jsonTyped jwtAuth kebabCase keelson
    lazyService manyToMany matchRoute memoryDriver memoryEngine memoryRateStore needsRehash noopLogger notFoundError openapi openapiDocument owner
    ownerOrAdmin pascalCase pluralize postgres prisma rateLimit reEncryptRecord reEncryptValue redisRateStore registerEncryptionKey
    relations remoteJoins removeEncryptionKey resolveEntity restoreAction rotateEncryptionKeys routeSegment rules
    runWorkflow schema schemaFromEntities selfRef serializeListQuery serve setGlobalContainer setLogger
    setPrimaryEncryptionKey singularize snakeCase softDeleteAction splitIncludes step string tagRecord telemetry text
    toNextHandler toPrismaSchema toggleAction unarchiveAction unauthorizedError updateEntityStep
    validateCrossFields validateRemoteRelations validation validationError valuesNeeding verifyPassword versions
    withOptions workflow workflows
  `),
  "keelson/client": words(`
    KeelsonClientError clientRoutes createClient serializeListQuery
  `),
  "keelson/express": words(`
    expressAdapter
  `),
  "keelson/hono": words(`
    honoAdapter
  `),
  "keelson/kernel": words(`
    ALWAYS ANONYMOUS AuthenticationError AuthorizationError BadRequestError ByteBudget CLIENT_METHODS
    ConfigurationError ConflictError DEFAULT_LIMITS DatabaseError DatabaseUnavailableError DecryptionError
    EntityBuilder EntityNotFoundError HookRegistry InFlight InternalError KeelsonError MethodNotAllowedError
    NEVER NotStoredError OPERATORS PayloadTooLargeError PluginError PluginList PreconditionFailedError
    PreconditionRequiredError RateLimitedError ReferencedError Reply SYSTEM ScopedContainer
    ServiceContainer ShownRecords UnavailableError UnsupportedMediaTypeError ValidationFailedError
    WorkflowFailedError allOf and answerWeb asItMeets asItPasses asReader askedOfStored baseHeaders baseMask belongsTo
    blindIndexOf bool boolean boundedBody camelCase canHold cancelBody canonicalize capitalize checkDepth
    clearGlobalContainer columnsOf compare compileWhere conflictError
    consoleLogger countedBytes createApp createDeclarations createKernel createModel createPlugin
    createPluginFactory createPrefixedLogger createScope createSerialQueue createService datetime decodeCursor
    defaultIds defaultIsAdmin defineDriver describeError detectPluginType didYouMean email encodeCursor endWith
    endpoint entity entityName entityOf entityOfRecord enums expectUnchanged explainRemote 
    findsRecord float forDecisions forbiddenError foreignKeyOf gate getGlobalContainer getLogger handleError
    hasMany hasOne includedBytes int internalError isAlways isJsonValue isKeelsonError isPromiseLike isRead
    isUsable isUserId isValidEntityName isValidIdentifier isValidPlugin isWebResponse json jsonSchemaOf
    jsonShapeProblem jsonTyped kebabCase keysetCondition knownOf lazyService looksAt manyToMany
    mapCondition markShown matchRoute matches meets mostBytes mostRowBytes nearest newDefault noopLogger not
    notFoundError noteUndecryptable observe or pascalCase plainField pluralize present presentSettled
    publishedFields reachesOwnKind readParameters refusal related resolveEntity routeSegment rowBytes ruleName
    ruleObjectsOf runHooks safeLogger satisfiesAlone schemaFromEntities seesRelation selfRef setGlobalContainer setLogger
    shownName singularize snakeCase soleId storedMeet storedRecord string tagRecord
    taggingDriver text totalOrder tracerOf unauthorizedError unknownKeys validationError visitCondition
    withCapabilities withDeadline withMiddleware
  `),
  "keelson/next": words(`
    toNextHandler
  `),
  "keelson/node": words(`
    gracefully serve toNodeHandler
  `),
  "keelson/prisma": words(`
    embedded openMigrations postgres prisma sharedAdapter toPrismaSchema
  `),
  "keelson/testing": words(`
    createFakeKernel createTestApp driverContract pathOf recordingLogger
  `),
};

/** Sections 1.1 and 2.4 of the specification, as far as this release goes. */
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
  it("has no subpath but those listed here", () => {
    const { exports } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
      exports: Record<string, unknown>;
    };
    const subpaths = Object.keys(exports).filter((key) => key !== "./package.json");
    expect(subpaths.map((key) => `keelson${key.slice(1)}`).sort()).toEqual(Object.keys(EXPORTS).sort());
  });

  it.each(Object.entries(EXPORTS))("exports from %s what is listed here, and nothing else", async (subpath, names) => {
    expect(Object.keys(await import(subpath)).sort()).toEqual(names);
  });

  it("exports from its root every name of the specification", () => {
    expect(SPECIFIED.filter((name) => !EXPORTS.keelson?.includes(name))).toEqual([]);
  });

  it("exports one class and one function under one name, whatever the subpath", async () => {
    const [all, kernel] = (await Promise.all([import("keelson"), import("keelson/kernel")])) as Record<
      string,
      unknown
    >[];
    const shared = (EXPORTS["keelson/kernel"] ?? []).filter((name) => EXPORTS.keelson?.includes(name));
    expect(shared.length).toBeGreaterThan(50);
    expect(shared.filter((name) => all?.[name] !== kernel?.[name])).toEqual([]);
  });
});
