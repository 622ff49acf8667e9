import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { freshPostgres } from "../support/databases.ts";
import { noteConfig, openProject, type TestProject } from "./project.ts";

// Each command sets up a whole app, and some start Prisma's engine, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const RULES = '.rules({ read: ["everyone"], create: ["everyone"] })';
const ONE = noteConfig("title: string", RULES);
/** A column with values is removed. */
const LOST = noteConfig("text: string.optional()", RULES);
const RENAMED = noteConfig('text: string.renamedFrom("title")', RULES);

let project: TestProject;
/** Node caches an imported file for the life of the process, so each state of the definitions is a separate file. */
const config = (name: string) => `--config=${name}.config.ts`;

beforeEach(async () => {
  project = await openProject({ "one.config.ts": ONE, "lost.config.ts": LOST, "renamed.config.ts": RENAMED });
  await project.write(
    "fill.config.ts",
    `import { keelson } from "keelson";
     import config from "./one.config.ts";
     const api = keelson(config);
     await api.ready;
     await api.asSystem().note.create({ title: "kept" });
     await api.close();
     export default config;`,
  );
});
afterEach(() => project.remove());

describe("keelson db", () => {
  it("pushes differences, and reports before and after whether the tables match", async () => {
    expect(await project.run("db", "status", config("one"))).toMatchObject({
      code: 1,
      out: expect.stringContaining("note"),
    });
    const pushed = await project.run("db", "push", config("one"));
    expect(pushed).toMatchObject({
      code: 0,
      out: expect.stringMatching(/"note"[\s\S]*The tables fit the entities now\.\n$/),
    });
    expect(pushed.err).toContain("Changing the tables");
    expect(await project.run("db", "status", config("one"))).toMatchObject({
      code: 0,
      out: "The tables fit the entities.\n",
    });
    expect(await project.run("db", "push", config("one"))).toMatchObject({
      code: 0,
      out: "The tables fit the entities already.\n",
    });
    const status = await project.run("db", "status", "--json", config("one"));
    expect(JSON.parse(status.out)).toEqual({ fits: true, changes: [] });
    expect(JSON.parse((await project.run("db", "push", "--json", config("one"))).out)).toEqual({
      changed: false,
      changes: [],
    });
  });

  it("shows what a push would change, and changes nothing", async () => {
    const { code, out } = await project.run("db", "diff", config("one"));
    expect([code, out]).toEqual([0, expect.stringContaining('"note"')]);
    expect((await project.run("db", "diff", "--sql", config("one"))).out).toMatch(/CREATE TABLE "note"/);
    const { changes, isEmpty } = JSON.parse((await project.run("db", "diff", "--json", config("one"))).out);
    expect([isEmpty, changes.length > 0]).toEqual([false, true]);
    expect((await project.run("db", "status", config("one"))).code).toBe(1);
  });

  it("drops nothing without acceptance, and lists losses first", async () => {
    await project.run("routes", config("fill"));
    const refused = await project.run("db", "push", config("lost"));
    expect(refused.code).toBe(1);
    expect(refused.out).toMatch(/^loses values {2}.*title/);
    expect(refused.err).toContain("--accept-data-loss");
    expect((await project.run("db", "status", config("one"))).code).toBe(0);
    expect(JSON.parse((await project.run("db", "push", "--json", config("lost"))).out)).toMatchObject({
      changed: false,
    });
    const accepted = await project.run("db", "push", "--accept-data-loss", config("lost"));
    expect(accepted).toMatchObject({ code: 0, out: expect.stringContaining("The tables fit the entities now.") });
    expect((await project.run("db", "status", config("lost"))).code).toBe(0);
  });

  it("keeps the values of a column that was renamed", async () => {
    await project.run("routes", config("fill"));
    expect(await project.run("db", "push", config("renamed"))).toMatchObject({ code: 0 });
    await project.write(
      "read.config.ts",
      `import { keelson } from "keelson";
       import config from "./renamed.config.ts";
       const api = keelson(config);
       await api.ready;
       const { data: [note] } = await api.asSystem().note.list();
       await api.close();
       export default { ...config, apiPrefix: "/" + note.text };`,
    );
    expect((await project.run("routes", config("read"))).out).toContain("/kept/notes");
  });
});

describe("keelson migrate", () => {
  it("writes migrations in Prisma's layout, applies them once, and lists pending ones", async () => {
    const made = await project.run("migrate", "dev", "--name=start", config("one"));
    expect(made.code).toBe(0);
    const [folder] = /prisma\/migrations\/\d{14}_start/.exec(made.out) ?? [""];
    expect(await project.read(`${folder}/migration.sql`)).toContain('CREATE TABLE "note"');
    expect(await project.read("prisma/migrations/migration_lock.toml")).toContain("sqlite");
    expect(made.out).toMatch(/Applied: \d{14}_start/);
    expect(await project.run("migrate", "status", config("one"))).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^applied +\d{14}_start$/m),
    });
    expect((await project.run("migrate", "dev", "--name=again", config("one"))).out).toBe(
      "The migrations already say what the entities say.\nNo migration was pending.\n",
    );
    const renamed = await project.run("migrate", "dev", "--name=rename", "--create-only", config("renamed"));
    expect(renamed).toMatchObject({ code: 0, out: expect.not.stringContaining("Applied") });
    const before = await project.run("migrate", "status", "--json", config("renamed"));
    expect(before.code).toBe(1);
    expect(JSON.parse(before.out)).toMatchObject({
      pending: [expect.stringMatching(/_rename$/)],
      failed: [],
      missing: [],
      drift: [],
    });
    const deployed = await project.run("migrate", "deploy", "--json", config("renamed"));
    expect(JSON.parse(deployed.out)).toEqual({ applied: [expect.stringMatching(/_rename$/)] });
    expect((await project.run("migrate", "deploy", config("renamed"))).out).toBe("No migration was pending.\n");
    expect((await project.run("migrate", "status", config("renamed"))).code).toBe(0);
  });

  it("uses pushed tables as a baseline if they match", async () => {
    await project.run("db", "push", config("one"));
    await project.run("migrate", "dev", "--name=start", "--create-only", config("one"));
    expect(await project.run("migrate", "deploy", config("one"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("keelson migrate deploy --baseline"),
    });
    expect(await project.run("migrate", "deploy", "--baseline", config("one"))).toMatchObject({ code: 0 });
    expect((await project.run("migrate", "status", config("one"))).code).toBe(0);
  });

  it("records a new migration without running it if a push has made its changes", async () => {
    await project.run("db", "push", config("one"));
    const recorded = /^Recorded: \d{14}_\w+ \(the database had these changes already\)$/m;
    for (const [name, definitions] of [
      ["start", "one"],
      ["more", "renamed"],
    ] as const) {
      if (name === "more") await project.run("db", "push", config(definitions));
      const made = await project.run("migrate", "dev", `--name=${name}`, config(definitions));
      expect(made, name).toMatchObject({ code: 0, out: expect.stringMatching(recorded) });
      expect((await project.run("migrate", "status", config(definitions))).code).toBe(0);
    }
  });

  it("continues after a failed migration once it is resolved", async () => {
    await project.run("migrate", "dev", "--name=start", config("one"));
    await project.write("prisma/migrations/29990101000000_broken/migration.sql", "SELECT * FROM nowhere;");
    expect((await project.run("migrate", "deploy", config("one"))).code).toBe(1);
    const name = "29990101000000_broken";
    const { failed, pending } = JSON.parse((await project.run("migrate", "status", "--json", config("one"))).out);
    expect([...failed, ...pending]).toContain(name);
    if (failed.length === 0) await project.write(`prisma/migrations/${name}/migration.sql`, "SELECT 1;");
    else
      expect(await project.run("migrate", "resolve", name, "--as=applied", config("one"))).toMatchObject({
        code: 0,
        out: `Recorded as applied: ${name}\n`,
      });
    expect((await project.run("migrate", "deploy", config("one"))).code).toBe(0);
    expect((await project.run("migrate", "resolve", name, "--as=applied", config("one"))).err).toContain(
      "has not failed",
    );
  });

  it("names definitions that the migrations do not include", async () => {
    await project.run("migrate", "dev", "--name=start", config("one"));
    const { code, out, err } = await project.run("migrate", "status", config("renamed"));
    expect([code, out]).toEqual([1, expect.stringContaining("text")]);
    expect(err).toContain("keelson migrate dev --name=<name>");
  });

  it("writes no migration that loses values without acceptance", async () => {
    await project.run("migrate", "dev", "--name=start", config("one"));
    const refused = await project.run("migrate", "dev", "--name=drop", config("lost"));
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("title")]);
    const accepted = await project.run("migrate", "dev", "--name=drop", "--accept-data-loss", config("lost"));
    expect(accepted).toMatchObject({ code: 0, out: expect.stringMatching(/^loses values {2}/) });
  });
});

describe("the database of a command", () => {
  const withDriver = (driver: string) => noteConfig("title: string", RULES, `driver: ${driver}`);

  beforeEach(() => {
    delete process.env.DATABASE_URL;
  });

  it("is the one that --url names", async () => {
    expect((await project.run("db", "push", "--url=file:other.db", config("one"))).code).toBe(0);
    expect(await project.list()).toContain("other.db");
    expect(await project.list()).not.toContain(".keelson");
  });

  it("must be given for a driver that does not expose its URL", async () => {
    await project.write("driver.config.ts", withDriver('embedded({ file: "own.db" })'));
    const { code, err } = await project.run("db", "status", config("driver"));
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('The driver "embedded" does not report its database address.'),
    ]);
    process.env.DATABASE_URL = "file:own.db";
    expect((await project.run("db", "push", config("driver"))).code).toBe(0);
    expect(await project.list()).toContain("own.db");
  });

  it("may be PostgreSQL", async () => {
    const { url, drop } = await freshPostgres();
    onTestFinished(drop);
    await project.write("driver.config.ts", withDriver("postgres(process.env.DATABASE_URL)"));
    process.env.DATABASE_URL = url;
    const made = await project.run("migrate", "dev", "--name=start", config("driver"));
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/Applied: \d{14}_start/) });
    expect(await project.read("prisma/migrations/migration_lock.toml")).toContain("postgresql");
    expect((await project.run("db", "status", config("driver"))).code).toBe(0);
    const { code, out } = await project.run("doctor", config("driver"), "--json");
    expect([code, out]).toEqual([1, expect.stringContaining("@prisma/adapter-pg@7.10.0")]);
  });

  it("is of the driver's kind", async () => {
    await project.write("driver.config.ts", withDriver('embedded({ file: "own.db" })'));
    process.env.DATABASE_URL = "postgresql://user:secret@localhost/shop";
    const { code, err } = await project.run("db", "status", config("driver"));
    expect([code, err]).toEqual([1, expect.stringContaining("DATABASE_URL is the address of a postgresql database")]);
    expect(err).not.toContain("secret");
  });

  it("is always the embedded default for a project without a driver", async () => {
    process.env.DATABASE_URL = "file:elsewhere.db";
    expect((await project.run("db", "push", config("one"))).code).toBe(0);
    expect(await project.list()).not.toContain("elsewhere.db");
  });

  it.each([
    ["--url=mongodb://localhost/x", "--url must begin with file:, postgresql: or mysql:"],
    ["--url=mysql://localhost/x", "npx prisma"],
  ])("is refused as %s, with a solution", async (url, sentence) => {
    expect(await project.run("db", "status", url, config("one"))).toMatchObject({
      code: 1,
      err: expect.stringContaining(sentence),
    });
  });
});
