import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { noteConfig, openProject, type TestProject } from "./project.ts";

// Each command sets up a whole app, and some start Prisma's engine, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let project: TestProject;
beforeEach(async () => {
  project = await openProject({ "keelson.config.ts": noteConfig("title: string") });
});
afterEach(() => project.remove());

describe("keelson generate", () => {
  it("writes the Prisma schema of the driver's database once, without opening one", async () => {
    expect(await project.run("generate")).toEqual({ code: 0, out: "Written: prisma/schema.prisma\n", err: "" });
    const schema = await project.read("prisma/schema.prisma");
    expect(schema).toContain('provider = "sqlite"');
    expect(schema).toContain("model note {");
    expect((await project.run("generate")).out).toBe("Up to date: prisma/schema.prisma\n");
    expect(await project.list()).toEqual(["keelson.config.ts", "prisma"]);
  });

  it("writes it for another database, to another file", async () => {
    expect((await project.run("generate", "--provider=mysql", "--output=db/other.prisma")).code).toBe(0);
    expect(await project.read("db/other.prisma")).toContain('provider = "mysql"');
  });

  it("needs the database of a driver that does not expose it", async () => {
    await project.write(
      "memory.config.ts",
      'import { memoryDriver } from "keelson"; export default { entities: [], driver: memoryDriver() };',
    );
    expect(await project.run("generate", "--config=memory.config.ts")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Pass --provider="),
    });
  });

  it("checks that the schema is up to date, and writes nothing", async () => {
    expect(await project.run("generate", "--check")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is out of date. Run: keelson generate"),
    });
    expect(await project.list()).toEqual(["keelson.config.ts"]);
    await project.run("generate");
    expect(await project.run("generate", "--check")).toEqual({ code: 0, out: "", err: "" });
  });

  it("names the package that --client needs", async () => {
    expect(await project.run("generate", "--client")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Run: npm i -D prisma@7.10.0"),
    });
  });

  it("runs the project's prisma, and again without its engine if it is unreachable", async () => {
    await project.write("node_modules/prisma/package.json", '{ "version": "7.10.0", "bin": { "prisma": "run.cjs" } }');
    await project.write(
      "node_modules/prisma/run.cjs",
      `const { appendFileSync } = require("node:fs");
       const engine = process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? "fetched";
       appendFileSync("calls.txt", process.argv.slice(2).join(" ") + " " + engine + "\\n");
       if (engine === "fetched") { console.error("getaddrinfo ENOTFOUND"); process.exitCode = 1; }`,
    );
    expect((await project.run("generate", "--client")).code).toBe(0);
    const call = "generate --schema prisma/schema.prisma";
    expect(await project.read("calls.txt")).toBe(`${call} fetched\n${call} /bin/false\n`);
    await project.write("node_modules/prisma/run.cjs", "process.exitCode = 1;");
    expect(await project.run("generate", "--client")).toMatchObject({
      code: 1,
      err: expect.stringContaining("prisma generate failed"),
    });
  });
});
