import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { folderCircles } from "../support/folder-circles.ts";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";

interface Report {
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
    readonly ruleSetUsed: { readonly forbidden: readonly { readonly name: string }[] };
    readonly totalCruised: number;
  };
}

/** Runs the architecture check over `folders` of the project at `root`, with this repository's rules. */
function cruise(root: string, folders: readonly string[]): Report["summary"] {
  const command = join(repositoryRoot, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const rules = join(repositoryRoot, ".dependency-cruiser.cjs");
  const run = spawnSync(process.execPath, [command, "--config", rules, "--output-type", "json", ...folders], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (!run.stdout) throw new Error(`dependency-cruiser printed nothing: ${run.stderr}`);
  return (JSON.parse(run.stdout) as Report).summary;
}

/** A file that breaks one rule, and the rule. */
const VIOLATIONS: readonly (readonly [file: string, line: string, rule: string])[] = [
  ["src/kernel/one.ts", 'export { two } from "./two.ts";', "no-circular"],
  ["src/entity/lost.ts", 'import "./nowhere.ts";', "resolvable"],
  ["src/entity/upward.ts", 'import "../kernel/index.ts";', "entity-imports-nothing-of-ours"],
  ["src/entity/self.ts", 'import "keelson";', "entity-imports-nothing-of-ours"],
  ["src/kernel/deep.ts", 'import "../entity/field.ts";', "kernel-imports-only-errors"],
  ["src/kernel/to-gate.ts", 'import type { gate } from "../gate/index.ts";', "kernel-imports-only-errors"],
  ["src/gate/deep.ts", 'import "../kernel/two.ts";', "gate-uses-the-doors"],
  ["src/kernel/to-plugin.ts", 'import type { crud } from "../plugins/crud/index.ts";', "kernel-imports-only-errors"],
  ["src/kernel/to-adapter.ts", 'import "../adapters/express/index.ts";', "kernel-imports-only-errors"],
  ["src/kernel/to-driver.ts", 'import "../drivers/memory/index.ts";', "kernel-imports-only-errors"],
  ["src/kernel/to-client.ts", 'import "../client/index.ts";', "kernel-imports-only-errors"],
  ["src/kernel/to-cli.ts", 'import "../cli/index.ts";', "kernel-imports-only-errors"],
  ["src/kernel/di.ts", 'import "tsyringe";', "container-owns-tsyringe"],
  ["src/plugins/rules/metadata.ts", 'import "reflect-metadata";', "container-owns-tsyringe"],
  ["src/plugins/workflows/engine/dbos.ts", 'import type { DBOS } from "@dbos-inc/dbos-sdk";', "dbos-in-one-folder"],
  ["src/plugins/rules/sibling.ts", 'import "../crud/index.ts";', "plugin-never-imports-a-plugin"],
  [
    "src/plugins/rules/sibling-type.ts",
    'import type { crud } from "../crud/index.ts";',
    "plugin-never-imports-a-plugin",
  ],
  ["src/plugins/rules/deep.ts", 'import "../../kernel/two.ts";', "plugin-uses-the-doors"],
  ["src/plugins/rules/to-driver.ts", 'import "../../drivers/memory/index.ts";', "plugin-uses-the-doors"],
  ["src/testing/to-plugin.ts", 'import "../plugins/crud/index.ts";', "only-the-roots-name-plugins"],
  ["src/cli/deep.ts", 'import "../plugins/crud/handlers.ts";', "cli-uses-the-doors"],
  ["src/cli/plugin.ts", 'import "../plugins/crud/index.ts";', "only-the-roots-name-plugins"],
  ["src/keelson.ts", 'import "./cli/index.ts";', "nobody-imports-the-cli"],
  ["src/kernel/prompts.ts", 'import type { select } from "@clack/prompts";', "nobody-imports-the-cli"],
  ["src/keelson.ts", 'import "./plugins/crud/handlers.ts";', "roots-use-the-doors"],
  ["src/adapters/express/deep.ts", 'import "../../kernel/two.ts";', "adapter-uses-the-doors"],
  ["src/adapters/express/to-node.ts", 'import "../node/index.ts";', "adapter-uses-the-doors"],
  ["src/adapters/express/sibling.ts", 'import "../hono/index.ts";', "adapter-uses-the-doors"],
  ["src/drivers/memory/deep.ts", 'import "../../entity/field.ts";', "driver-uses-the-doors"],
  ["src/drivers/memory/sibling.ts", 'import "../prisma/index.ts";', "driver-uses-the-doors"],
  ["src/drivers/sql/upwards.ts", 'import "../prisma/index.ts";', "driver-uses-the-doors"],
  ["src/drivers/prisma/inside.ts", 'import "../sql/execute/run.ts";', "driver-uses-the-doors"],
  ["src/adapters/express/peer.ts", 'import "zod";', "own-peer-only:adapters/express"],
  ["src/adapters/hono/peer.ts", 'import type { Request } from "express";', "own-peer-only:adapters/hono"],
  ["src/adapters/next/peer.ts", 'import "hono";', "own-peer-only:adapters/next"],
  ["src/adapters/node/peer.ts", 'import "express";', "own-peer-only:adapters/node"],
  ["src/adapters/web/peer.ts", 'import "hono";', "own-peer-only:adapters/web"],
  ["src/drivers/prisma/peer.ts", 'import "zod";', "own-peer-only:drivers/prisma"],
  ["src/drivers/sql/peer.ts", 'import "@prisma/client";', "own-peer-only:drivers/sql"],
  ["src/drivers/memory/peer.ts", 'import "pg";', "own-peer-only:drivers/memory"],
  ["src/client/server.ts", 'import "../kernel/index.ts";', "client-imports-entity-only"],
  ["src/client/value.ts", 'export { entity } from "../entity/index.ts";', "client-imports-types-only"],
  ["src/entity/kinds/operators.ts", 'import "zod";', "operators-import-nothing"],
  ["src/client/node.ts", 'import "node:fs";', "client-runs-in-a-browser"],
  ["src/index.ts", 'import "./kernel/two.ts";', "roots-use-the-doors"],
  ["src/index.ts", 'import "./testing/index.ts";', "testing-stays-out-of-src"],
  ["src/testing/framework.ts", 'import "vitest";', "testing-imports-no-test-framework"],
  ["src/kernel/to-test.ts", 'import "../../test/support.ts";', "src-imports-src-only"],
  ["src/plugins/rules/undeclared.ts", 'import "fast-check";', "src-imports-what-package-json-ships"],
];

/** Targets of the violations, and imports that every rule allows. */
const ALLOWED: readonly (readonly [file: string, line: string])[] = [
  ["src/kernel/two.ts", 'export { one } from "./one.ts";\nexport const two = 2;'],
  [
    "src/kernel/index.ts",
    'import type { KeelsonError } from "../entity/base/keelson-error.ts";\nexport type Thrown = KeelsonError;',
  ],
  ["src/entity/base/keelson-error.ts", "export class KeelsonError extends Error {}"],
  ["src/gate/index.ts", 'import "../kernel/index.ts";\nimport "../entity/index.ts";\nexport const gate = 1;'],
  [
    "src/kernel/container/container.ts",
    'import "reflect-metadata";\nimport { container } from "tsyringe";\ncontainer;',
  ],
  ["src/entity/index.ts", 'import { z } from "zod";\nexport const entity = z;'],
  ["src/entity/field.ts", 'import type { Kind } from "./kind.ts";\nexport type Field = Kind;'],
  ["src/entity/kind.ts", 'import type { Field } from "./field.ts";\nexport type Kind = Field;'],
  [
    "src/plugins/crud/index.ts",
    'import "zod";\nimport "../../kernel/index.ts";\nimport "./handlers.ts";\nexport const crud = 1;',
  ],
  ["src/plugins/crud/handlers.ts", 'import "../../entity/index.ts";\nimport "node:crypto";'],
  ["src/plugins/workflows/dbos/load.ts", 'import "@dbos-inc/dbos-sdk";'],
  [
    "src/adapters/express/index.ts",
    'import type { Request } from "express";\nimport "../../kernel/index.ts";\nimport "../node/node-host.ts";\nexport type R = Request;',
  ],
  ["src/adapters/hono/index.ts", 'import "hono";'],
  ["src/adapters/next/index.ts", 'import "../../entity/index.ts";'],
  ["src/adapters/node/index.ts", 'import "node:http";'],
  ["src/adapters/node/node-host.ts", 'import "node:http";'],
  ["src/drivers/prisma/index.ts", 'import "@prisma/client";\nimport "./embedded/index.ts";\nimport "../sql/index.ts";'],
  [
    "src/drivers/prisma/embedded/index.ts",
    'import "@prisma/adapter-libsql";\nimport "pg";\nimport "../../../kernel/index.ts";',
  ],
  ["src/drivers/sql/index.ts", 'import "kysely";\nimport "lru-cache";\nimport "./execute/run.ts";'],
  ["src/drivers/sql/execute/run.ts", 'import "@prisma/driver-adapter-utils";\nimport "../../../kernel/index.ts";'],
  ["src/drivers/memory/index.ts", 'import "../../kernel/index.ts";'],
  [
    "src/client/operators.ts",
    'import { OPERATORS } from "../entity/kinds/operators.ts";\nexport const names = OPERATORS;',
  ],
  ["src/client/index.ts", 'import type { entity } from "../entity/index.ts";\nexport type E = typeof entity;'],
  ["src/cli/index.ts", 'import "citty";\nimport "../drivers/memory/index.ts";\nimport "../kernel/index.ts";'],
  ["src/testing/index.ts", 'import "../kernel/two.ts";\nimport "../drivers/memory/index.ts";'],
  ["test/support.ts", 'import "vitest";\nimport "keelson/testing";\nimport "../src/plugins/crud/handlers.ts";'],
];

const planted = mkdtempSync(join(tmpdir(), "keelson-boundaries-"));
afterAll(() => rmSync(planted, { recursive: true, force: true }));

function plant(): Report["summary"] {
  symlinkSync(join(repositoryRoot, "node_modules"), join(planted, "node_modules"), "junction");
  for (const file of ["package.json", "tsconfig.json"]) copyFileSync(join(repositoryRoot, file), join(planted, file));
  for (const [file, text] of [...ALLOWED, ...VIOLATIONS]) {
    mkdirSync(dirname(join(planted, file)), { recursive: true });
    appendFileSync(join(planted, file), `${text}\n`);
  }
  return cruise(planted, ["src", "test"]);
}

describe("boundaries", () => {
  it("holds in src and test", () => {
    const { violations, totalCruised } = cruise(repositoryRoot, ["src", "test"]);
    expect(totalCruised).toBeGreaterThan(0);
    expect(violations.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  }, 120_000);

  it("has no folders in src that import each other in a circle", () => {
    const files = sourceFiles("src").filter(({ path }) => path.endsWith(".ts"));
    expect(folderCircles(files)).toEqual([]);
    const down = { path: "src/kernel/down.ts", text: 'import type { memory } from "../drivers/memory/index.ts";' };
    const added = [...files, down, { path: "src/drivers/memory/up.ts", text: 'import "../../kernel/index.ts";' }];
    expect(folderCircles(added).flat()).toContain("src/drivers/memory");
  });

  describe("a planted import", () => {
    const { violations, ruleSetUsed } = plant();
    const found = new Set(violations.map(({ from, rule }) => `${rule.name}: ${from}`));

    it.each(VIOLATIONS)("refuses %s: %s (%s)", (file, _line, rule) => {
      expect(found).toContain(`${rule}: ${file}`);
    });

    it("leaves no rule without a case", () => {
      const exercised = new Set(VIOLATIONS.map(([, , rule]) => rule));
      expect(ruleSetUsed.forbidden.map(({ name }) => name).filter((name) => !exercised.has(name))).toEqual([]);
    });

    it("allows every permitted import", () => {
      const allowed = new Set(ALLOWED.map(([file]) => file));
      const refused = violations.filter(({ from, rule }) => allowed.has(from) && rule.name !== "no-circular");
      expect(refused.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
    });
  });
});
