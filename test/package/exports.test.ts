import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

/** What can be imported at run time, by subpath: a name that comes or goes is a decision, and shows here. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  keelson: words(`
    AuthenticationError AuthorizationError BadRequestError ConfigurationError ConflictError DEFAULT_LIMITS
    DatabaseError DatabaseUnavailableError EntityNotFoundError InternalError KeelsonError MethodNotAllowedError
    PayloadTooLargeError PluginError PluginList PreconditionFailedError RateLimitedError ReferencedError Reply
    ScopedContainer ServiceContainer UnavailableError UnsupportedMediaTypeError ValidationFailedError
    WorkflowFailedError admin all authenticated belongsTo bool boolean camelCase capitalize clearGlobalContainer
    conflictError consoleLogger createPlugin createPluginFactory createPrefixedLogger createScope createService
    crud datetime defaultPlugins defineConfig defineRule detectPluginType email embedded endpoint entity
    entityOfRecord enums everyone expressAdapter float forbiddenError getGlobalContainer getLogger handleError
    hasMany hasOne health int internalError isKeelsonError isValidEntityName isValidIdentifier isValidPlugin
    json jsonTyped kebabCase keelson lazyService manyToMany matchRoute memoryDriver noopLogger notFoundError
    owner ownerOrAdmin pascalCase pluralize postgres prisma resolveEntity routeSegment rules schema
    schemaFromEntities selfRef serializeListQuery serve setGlobalContainer setLogger singularize snakeCase
    string tagRecord text toPrismaSchema unauthorizedError validation validationError
  `),
  "keelson/express": words(`
    expressAdapter
  `),
  "keelson/kernel": words(`
    ALWAYS ANONYMOUS AuthenticationError AuthorizationError BadRequestError ConfigurationError ConflictError
    DEFAULT_LIMITS DatabaseError DatabaseUnavailableError EntityBuilder EntityNotFoundError HookRegistry
    InternalError KeelsonError MethodNotAllowedError NEVER OPERATORS PayloadTooLargeError PluginError PluginList
    PreconditionFailedError RateLimitedError ReferencedError Reply RequestScope SYSTEM ScopedContainer
    ServiceContainer UnavailableError UnsupportedMediaTypeError ValidationFailedError WorkflowFailedError allOf
    baseHeaders baseMask belongsTo bool boolean camelCase canHold canonicalize capitalize clearGlobalContainer columnsOf
    compileRuntime compileWhere conflictError consoleLogger createKernel createModel createPlugin
    createPluginFactory createPrefixedLogger createScope createSerialQueue createService datetime decodeCursor defaultIds
    defaultIsAdmin describeError detectPluginType didYouMean email encodeCursor endpoint entity entityOfRecord
    enums expectUnchanged featuresOf float forbiddenError foreignKeyOf getGlobalContainer getLogger handleError
    hasMany hasOne int internalError isAlways isJsonValue isKeelsonError isPromiseLike isValidEntityName isValidIdentifier
    isValidPlugin json jsonTyped kebabCase keysetWhere lazyService manyToMany matchRoute matches nearest
    noopLogger notFoundError observe pascalCase plainField pluralize present resolveEntity routeSegment ruleName
    ruleObjectsOf runHooks safeLogger schemaFromEntities selfRef setGlobalContainer setLogger singularize
    snakeCase soleId streamByKeyset string tagRecord text totalOrder unauthorizedError validationError withDeadline
  `),
  "keelson/node": words(`
    serve toNodeHandler
  `),
  "keelson/prisma": words(`
    embedded postgres prisma toPrismaSchema
  `),
  "keelson/testing": words(`
    createFakeKernel createTestApp pathOf recordingLogger
  `),
};

/** Section 1.1 of the specification, as far as this release goes. */
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
    expressAdapter prisma
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
