import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Diagnosis } from "../../src/cli/doctor/examine.ts";
import { checkNode, fits } from "../../src/cli/doctor/examine.ts";
import { builtPackage } from "./built-package.ts";
import { noteConfig, openProject } from "./project.ts";

// Each command sets up a whole app, and some start Prisma's engine, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const PEERS = [
  "@prisma/adapter-libsql",
  "@prisma/driver-adapter-utils",
  "@prisma/get-dmmf",
  "@prisma/schema-engine-wasm",
];

async function examined(files: Readonly<Record<string, string>>, peers: readonly string[] = PEERS) {
  const project = await openProject(files);
  onTestFinished(() => project.remove());
  await project.link(...peers);
  const { code, out } = await project.run("doctor", "--json");
  const found = JSON.parse(out) as Diagnosis[];
  const of = (check: string) => found.find((one) => one.check === check);
  return { project, code, of };
}

const OPEN = '.rules({ read: ["everyone"] })';

describe("keelson doctor", () => {
  it("reports a good project, and doubtful tables until they match", async () => {
    const { project, code, of } = await examined({ "keelson.config.ts": noteConfig("title: string", OPEN) });
    expect(code).toBe(0);
    for (const check of ["Node.js", "Keelson", "Packages", "Configuration", "Database"])
      expect(of(check)?.state).toBe("good");
    expect(of("Tables")).toMatchObject({ state: "doubtful", fix: expect.stringContaining("keelson db push") });
    await project.run("db", "push");
    expect(await project.run("doctor")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^good +Tables +they fit the entities$/m),
    });
  });

  it("names packages that are missing, with the command that installs them", async () => {
    const { code, of } = await examined({ "keelson.config.ts": noteConfig("title: string", OPEN) }, PEERS.slice(1));
    expect(code).toBe(1);
    expect(of("Packages")).toMatchObject({ state: "bad", fix: "Run: npm i @prisma/adapter-libsql@7.10.0" });
    expect(of("Database")).toBeUndefined();
  });

  it.each([
    ["7.10.0", "7.10.0", true],
    ["7.10.1", "7.10.0", false],
    ["7.7.0", "^7.7.0", true],
    ["7.10.3", "^7.7.0", true],
    ["7.6.9", "^7.7.0", false],
    ["8.0.0", "^7.7.0", false],
    [undefined, "^7.7.0", false],
  ])("rates %s as %s: %s", (version, range, expected) => {
    expect(fits(version, range)).toBe(expected);
  });

  it("reports a broken configuration, and findings of the linter", async () => {
    expect(await examined({})).toMatchObject({ code: 1 });
    const { code, of } = await examined({ "keelson.config.ts": noteConfig("title: string", "") });
    expect([code, of("Configuration")]).toEqual([
      0,
      {
        check: "Configuration",
        state: "doubtful",
        found: expect.stringMatching(/1 warnings$/),
        fix: "Run: keelson lint",
      },
    ]);
  });

  it("reports secrets that git would commit", async () => {
    const files = { "keelson.config.ts": noteConfig("title: string", OPEN), ".env": "A=1\n" };
    const { of: outside, project } = await examined(files);
    expect(outside("Secrets")).toBeUndefined();
    execFileSync("git", ["init", "--quiet"], { cwd: project.folder });
    const { code, out } = await project.run("doctor", "--json");
    expect([code, (JSON.parse(out) as Diagnosis[]).find(({ check }) => check === "Secrets")]).toEqual([
      1,
      {
        check: "Secrets",
        state: "bad",
        found: "git would take in .env and .keelson",
        fix: "Add to .gitignore: .env, .keelson",
      },
    ]);
    await project.write(".gitignore", "node_modules/\n*.env\n!other.env\n.keelson/\n");
    expect(await project.run("doctor")).toMatchObject({ code: 0, out: expect.stringContaining("git ignores them") });
    await project.write(".gitignore", ".env\n!.env\n.keelson/\n");
    expect((await project.run("doctor")).out).toContain("git would take in .env");
  });

  it("reports an unreachable database", async () => {
    const options = 'driver: postgres("postgresql://nobody:secret@127.0.0.1:1/none")';
    const { code, of, project } = await examined({ "keelson.config.ts": noteConfig("title: string", OPEN, options) }, [
      ...PEERS,
      "@prisma/adapter-pg",
    ]);
    expect(code).toBe(1);
    expect(of("Database")?.state).toBe("bad");
    expect((await project.run("doctor")).out).not.toContain("secret");
  });

  it("reports whether Node.js is recent enough", () => {
    expect(["18.20.0", "20.18.9", "20.19.0", "22.0.0"].map((version) => checkNode(version).state)).toEqual([
      "bad",
      "bad",
      "good",
      "good",
    ]);
  });

  it("reports when the project has another version than the command", async () => {
    const project = await openProject({ "keelson.config.ts": noteConfig("title: string", OPEN) }, false);
    onTestFinished(() => project.remove());
    await project.write(
      "node_modules/keelson/package.json",
      '{ "version": "0.0.1", "type": "module", "exports": "./dist/index.js" }',
    );
    await project.write(
      "node_modules/keelson/dist/index.js",
      `export * from ${JSON.stringify(pathToFileURL(`${await builtPackage()}/dist/index.js`).href)};`,
    );
    expect((await project.run("doctor")).out).toMatch(/^doubtful +Keelson +the project uses 0\.0\.1/m);
  });
});
