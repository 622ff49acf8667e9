/**
 * Who may import whom. `npm run arch` runs it over src and test; test/package/boundaries.test.ts shows each rule firing.
 * Folders are matched on the resolved file, so an alias or a self import of the package does not get around a rule.
 * Type-only imports count as imports: a type is a dependency too.
 */

/** Libraries whose code is in the compiled package (tsup.config.ts). */
const compiledIn = require("./scripts/compiled-in.json");

/** The doors that everything outside kernel, gate and entities goes through. */
const DOORS = "^src/(kernel|gate|entity)/index\\.ts$";

/** The table of operators: it imports nothing, so that code for browsers can load it too. */
const OPERATORS = "^src/entity/kinds/operators\\.ts$";

/** npm packages a peer brings; a type import resolves into @types when the package ships none. */
const npm = (names) => `(^|/)node_modules/(@types/)?(${names})(/|$)|^(${names})(/|$)`;

const ANY_NPM = ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-bundled", "npm-no-pkg", "npm-unknown"];

/** An edge folder reaches npm only for its own peer; everything else it needs is the kernel's to offer. */
const ownPeerOnly = (folder, names) => ({
  name: `own-peer-only:${folder}`,
  comment: `${folder} translates for one peer; another package in it means logic that belongs to the kernel or a plugin.`,
  severity: "error",
  from: { path: `^src/${folder}/` },
  to: { dependencyTypes: ANY_NPM, ...(names ? { pathNot: npm(names) } : {}) },
});

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-circular",
      comment:
        "What a cycle evaluates first depends on who imports it. Types have no such order, and two may name each other; entity definitions neither, since relations are functions that run later.",
      severity: "error",
      from: { pathNot: "^examples/[^/]+/entities/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "resolvable",
      comment: "An import nobody can resolve escapes every rule below.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "entity-imports-nothing-of-ours",
      comment:
        "Entities are passive data that every other part speaks in; a dependency would drag that part everywhere.",
      severity: "error",
      from: { path: "^src/entity/" },
      to: { path: "^src/", pathNot: "^src/entity/" },
    },
    {
      name: "kernel-imports-only-errors",
      comment:
        "The kernel knows no record, plugin, adapter, driver, client or command; it boots and serves without any of them. It shares errors and the search for similar names with the entities.",
      severity: "error",
      from: { path: "^src/kernel/" },
      to: { path: "^src/", pathNot: ["^src/kernel/", "^src/entity/base/(keelson-error|did-you-mean)\\.ts$"] },
    },
    {
      name: "gate-uses-the-doors",
      comment: "The gate is the first plugin of an app: it has what the kernel gives every plugin, and the entities.",
      severity: "error",
      from: { path: "^src/gate/" },
      to: { path: "^src/", pathNot: ["^src/gate/", DOORS] },
    },
    {
      name: "container-owns-tsyringe",
      comment: "tsyringe throws unless reflect-metadata came first, and its traps are hidden in one folder.",
      severity: "error",
      from: { pathNot: "^src/kernel/container/" },
      to: { path: npm("tsyringe|reflect-metadata") },
    },
    {
      name: "dbos-in-one-folder",
      comment: "DBOS is optional and a singleton: whoever does not use that engine never loads it.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/plugins/workflows/dbos/" },
      to: { path: npm("@dbos-inc/[^/]+") },
    },
    {
      name: "plugin-never-imports-a-plugin",
      comment: "What two plugins share is a port or a service looked up by id, so that either can be removed.",
      severity: "error",
      from: { path: "^src/plugins/([^/]+)/" },
      to: { path: "^src/plugins/", pathNot: "^src/plugins/$1/" },
    },
    {
      name: "plugin-uses-the-doors",
      comment:
        "A plugin of ours has only what a stranger's plugin has; a deep import means a door is missing something.",
      severity: "error",
      from: { path: "^src/plugins/([^/]+)/" },
      to: { path: "^src/", pathNot: [DOORS, OPERATORS, "^src/plugins/"] },
    },
    {
      name: "only-the-roots-name-plugins",
      comment:
        "Deleting a plugin's folder breaks src/keelson.ts, src/enhanced-driver.ts and src/index.ts and nothing else.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(plugins/|keelson\\.ts$|enhanced-driver\\.ts$|index\\.ts$)" },
      to: { path: "^src/plugins/" },
    },
    {
      name: "roots-use-the-doors",
      comment:
        "Every folder has one index.ts that speaks for it; its other files may change without the roots noticing.",
      severity: "error",
      from: { path: "^src/(keelson|enhanced-driver|index|plugin|driver)\\.ts$" },
      to: {
        path: "^src/[^/]+/",
        pathNot: "^src/(kernel|gate|entity|client|cli|(plugins|adapters|drivers)/[^/]+)/index\\.ts$",
      },
    },
    {
      name: "cli-uses-the-doors",
      comment: "The command is a composition root: it may name everything, through the doors that a user has too.",
      severity: "error",
      from: { path: "^src/cli/" },
      to: {
        path: "^src/",
        pathNot: "^src/(cli/|index\\.ts$|(kernel|gate|entity|client|(adapters|drivers)/[^/]+)/index\\.ts$)",
      },
    },
    {
      name: "nobody-imports-the-cli",
      comment: "The library is loaded by servers, which have no use for a command and what it brings along.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/cli/" },
      to: { path: ["^src/cli/", npm("citty|@clack/[^/]+|jiti")] },
    },
    {
      name: "adapter-uses-the-doors",
      comment:
        "Adapters translate in, call the app, translate out; what they share with the kernel is in its door. Hosts built on node:http may use what that adapter shares with them, and those that speak Request and Response what is theirs.",
      severity: "error",
      from: { path: "^src/adapters/([^/]+)/" },
      to: { path: "^src/", pathNot: [DOORS, "^src/adapters/$1/", "^src/adapters/(node/node|web/web)-host\\.ts$"] },
    },
    {
      name: "driver-uses-the-doors",
      comment:
        "A driver implements a port; a stranger can write one with the same imports. Those for databases share the SQL executor, by its door.",
      severity: "error",
      from: { path: "^src/drivers/([^/]+)/" },
      to: { path: "^src/", pathNot: [DOORS, "^src/drivers/$1/", "^src/drivers/sql/index\\.ts$"] },
    },
    ownPeerOnly("adapters/express", "express"),
    ownPeerOnly("adapters/hono", "hono"),
    ownPeerOnly("adapters/next", "next"),
    ownPeerOnly("adapters/node"),
    ownPeerOnly("adapters/web"),
    ownPeerOnly("drivers/prisma", "@prisma/[^/]+|pg"),
    ownPeerOnly("drivers/sql", "@prisma/driver-adapter-utils|pg|kysely|lru-cache"),
    ownPeerOnly("drivers/memory"),
    {
      name: "client-imports-entity-only",
      comment: "The client is shipped to browsers; it may know the shape of entities and nothing of the server.",
      severity: "error",
      from: { path: "^src/client/" },
      to: { path: "^src/", pathNot: ["^src/client/", "^src/entity/index\\.ts$", OPERATORS] },
    },
    {
      name: "client-imports-types-only",
      comment: "A value import of entity would put its builders and zod into every browser bundle.",
      severity: "error",
      from: { path: "^src/client/" },
      to: { path: "^src/entity/", pathNot: OPERATORS, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "operators-import-nothing",
      comment: "Browsers load the table of operators, and whatever it imports.",
      severity: "error",
      from: { path: OPERATORS },
      to: {},
    },
    {
      name: "client-runs-in-a-browser",
      comment: "No node: module exists there.",
      severity: "error",
      from: { path: "^src/client/" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "testing-stays-out-of-src",
      comment: "The fake kernel and the contract data are for tests; nothing that ships may lean on them.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/testing/" },
      to: { path: "^src/testing/" },
    },
    {
      name: "testing-imports-no-test-framework",
      comment: "keelson/testing works under vitest, node:test or a REPL alike.",
      severity: "error",
      from: { path: "^src/testing/" },
      to: { path: npm("vitest|@vitest/[^/]+|fast-check") },
    },
    {
      name: "src-imports-what-package-json-ships",
      comment:
        "A development dependency, or one that only came along with another, is missing where the package is used, unless it is compiled in.",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["npm", "npm-peer", "type-only"],
        pathNot: npm(compiledIn.join("|")),
      },
    },
    {
      name: "src-imports-src-only",
      comment: "Tests, benchmarks and examples are not in the package.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|examples|docs|scripts)/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|coverage)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
      extensions: [".ts", ".d.ts", ".js", ".mjs", ".cjs", ".json"],
    },
  },
};
