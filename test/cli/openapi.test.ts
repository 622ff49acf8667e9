import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openProject, type TestProject } from "./project.ts";

// Each command sets a whole app up: slow on a machine that has other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const CONFIG = (options = "") => `
  import { defineConfig, entity, string } from "keelson";
  const note = entity("note", { title: string, secret: string.readable("admin").optional() })
    .rules({ read: ["everyone"], create: ["admin"] });
  export default defineConfig({ entities: [note], ${options} });
`;

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, object>>;
}

describe("keelson openapi", () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await openProject({
      "keelson.config.ts": CONFIG(),
      "without.config.ts": CONFIG('plugins: (defaults) => defaults.without("openapi")'),
    });
  });
  afterAll(() => project.remove());

  it("prints the document with all that the rules let anybody do, and opens no database", async () => {
    const { code, out, err } = await project.run("openapi");
    expect([code, err]).toEqual([0, ""]);
    const { openapi, paths } = JSON.parse(out) as Document;
    expect(openapi).toMatch(/^3\.1\./);
    expect(Object.keys(paths["/api/notes"] ?? {})).toEqual(expect.arrayContaining(["get", "post"]));
    expect(out).toContain('"secret"');
    expect(await project.list()).not.toContain(".keelson");
  });

  it("leaves out what callers without a name may not use", async () => {
    const { code, out } = await project.run("openapi", "--as=public");
    expect(code).toBe(0);
    expect(Object.keys((JSON.parse(out) as Document).paths["/api/notes"] ?? {})).toEqual(["get"]);
    expect(out).not.toContain('"secret"');
  });

  it("writes a file, in production too, with the same text", async () => {
    const { out } = await project.run("openapi");
    vi.stubEnv("NODE_ENV", "production");
    const written = await project.run("openapi", "--output=api/openapi.json");
    vi.unstubAllEnvs();
    expect(written).toEqual({ code: 0, out: "Written: api/openapi.json\n", err: "" });
    const text = await project.read("api/openapi.json");
    expect(text).toMatch(/\}\n$/);
    expect(Object.keys((JSON.parse(text) as Document).paths)).toContain("/api/notes");
    // Where the document itself is served differs; what the API is does not.
    expect((JSON.parse(text) as Document).paths["/api/notes"]).toEqual(
      (JSON.parse(out) as Document).paths["/api/notes"],
    );
  });

  it("needs the plugin, and says so", async () => {
    expect(await project.run("openapi", "--config=without.config.ts")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining('The app has no plugin "openapi"'),
    });
  });

  it("refuses a file that cannot be written, with its name", async () => {
    const { code, err } = await project.run("openapi", "--output=keelson.config.ts/openapi.json");
    expect(code).toBe(1);
    expect(err).toMatch(/keelson\.config\.ts: mkdir is refused \((ENOTDIR|EEXIST)\)/);
  });
});
