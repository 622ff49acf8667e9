import { describe, expect, it, onTestFinished, vi } from "vitest";
import { noteConfig, openProject } from "./project.ts";

// Each command sets up a whole app, and some start Prisma's engine, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

async function routesOf(files: Readonly<Record<string, string>>, ...words: string[]) {
  const project = await openProject(files);
  onTestFinished(() => project.remove());
  return { ...(await project.run("routes", ...words)), project };
}

describe("the configuration of a project", () => {
  it("is found as TypeScript, with its imports, and opens no database", async () => {
    const { code, out, err, project } = await routesOf({
      "keelson.config.ts": `
        import { defineConfig } from "keelson";
        import { note } from "./src/note.ts";
        export default defineConfig({ entities: [note] });
      `,
      "src/note.ts": `
        import { defineRule, entity, string } from "keelson";
        enum Access { Read = "mine" }
        defineRule("mine", ({ user }) => user !== null);
        export const note = entity("note", { title: string }).rules({ read: [Access.Read], create: ["admin", "mine"] });
      `,
    });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^METHOD +PATH +ACTION +RULES +PLUGIN$/m);
    expect(out).toMatch(/^GET +\/api\/notes\/:id +read +mine +crud$/m);
    expect(out).toMatch(/^POST +\/api\/notes +create +admin or mine +crud$/m);
    expect(out).toMatch(/^DELETE +\/api\/notes\/:id +delete +no caller +crud$/m);
    expect(await project.list()).toEqual(["keelson.config.ts", "src"]);
  });

  it("may be another file, and JavaScript", async () => {
    const files = { "other/app.mjs": noteConfig("title: string") };
    const { code, out } = await routesOf(files, "--config=other/app.mjs", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toContainEqual({
      method: "GET",
      path: "/api/notes",
      entity: "note",
      action: "list",
      rules: ["everyone"],
      plugin: "crud",
    });
  });

  it("reads variables from .env, except those that are set", async () => {
    const project = await openProject({
      ".env": "KEELSON_TEST_ONE=one\nKEELSON_TEST_TWO=two\n",
      "keelson.config.mjs": `
        import { defineConfig } from "keelson";
        export default defineConfig({ entities: [], apiPrefix: "/" + process.env.KEELSON_TEST_ONE + process.env.KEELSON_TEST_TWO,
          plugins: (all) => all });
        if (process.env.KEELSON_TEST_ONE !== "one" || process.env.KEELSON_TEST_TWO !== "set") throw new Error("not taken");
      `,
    });
    process.env.KEELSON_TEST_TWO = "set";
    onTestFinished(async () => {
      delete process.env.KEELSON_TEST_ONE;
      delete process.env.KEELSON_TEST_TWO;
      await project.remove();
    });
    expect((await project.run("routes")).code).toBe(0);
  });

  it.each([
    ["is missing", {}, "There is no keelson.config.ts in this folder."],
    [
      "throws",
      { "keelson.config.ts": 'throw new TypeError("no such thing");' },
      "keelson.config.ts failed: TypeError: no such thing",
    ],
    [
      "throws what is no error",
      { "keelson.config.mjs": 'throw "text";' },
      "keelson.config.mjs failed: TypeError: text",
    ],
    ["cannot be read", { "keelson.config.ts": "export default {" }, "keelson.config.ts failed: "],
    ["imports what is not there", { "keelson.config.ts": 'import "./nowhere.ts";' }, "keelson.config.ts failed: "],
    [
      "has a definition that is wrong",
      { "keelson.config.ts": noteConfig("title: string.password().encrypted()") },
      "note.title",
    ],
    [
      "has no default export",
      { "keelson.config.ts": "export const config = {};" },
      "has no default export. Write: export default defineConfig",
    ],
    ["exports a function", { "keelson.config.ts": "export default () => ({});" }, "exports a function"],
    ["exports a list", { "keelson.config.ts": "export default [];" }, "is not a Keelson configuration"],
    [
      "exports an app",
      {
        "keelson.config.ts":
          'import { keelson, memoryDriver } from "keelson"; export default keelson({ entities: [], driver: memoryDriver() });',
      },
      "exports an app",
    ],
    [
      "has an unknown option",
      { "keelson.config.ts": "export default { entities: [], drivr: 1 };" },
      'there is no option "drivr". Did you mean "driver"?',
    ],
  ])("is refused when it %s, with a solution", async (_, files, sentence) => {
    const { code, out, err } = await routesOf(files as Record<string, string>);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(sentence);
  });

  it("is refused when --config names no file", async () => {
    expect((await routesOf({}, "--config=nowhere.ts")).err).toContain("--config: there is no file nowhere.ts");
    expect((await routesOf({}, "--config=.")).err).toContain("--config: there is no file .");
  });

  it("is refused if Keelson is not installed", async () => {
    const project = await openProject({ "keelson.config.ts": noteConfig("title: string") }, false);
    onTestFinished(() => project.remove());
    expect(await project.run("routes")).toMatchObject({ code: 1, err: expect.stringContaining("Run: npm i keelson") });
  });
});
