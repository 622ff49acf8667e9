import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openProject, type TestProject } from "./project.ts";

// Each command sets up a whole app, which is slow on a busy machine.
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

  it("prints the document with all that the rules allow any caller, without a database", async () => {
    const { code, out, err } = await project.run("openapi");
    expect([code, err]).toEqual([0, ""]);
    const { openapi, paths } = JSON.parse(out) as Document;
    expect(openapi).toMatch(/^3\.1\./);
    expect(Object.keys(paths["/api/notes"] ?? {})).toEqual(expect.arrayContaining(["get", "post"]));
    expect(out).toContain('"secret"');
    expect(await project.list()).not.toContain(".keelson");
  });

  it("omits what anonymous callers may not use", async () => {
    const { code, out } = await project.run("openapi", "--as=public");
    expect(code).toBe(0);
    expect(Object.keys((JSON.parse(out) as Document).paths["/api/notes"] ?? {})).toEqual(["get"]);
    expect(out).not.toContain('"secret"');
  });

  it("writes a file with the same text, in production too", async () => {
    const { out } = await project.run("openapi");
    vi.stubEnv("NODE_ENV", "production");
    const written = await project.run("openapi", "--output=api/openapi.json");
    vi.unstubAllEnvs();
    expect(written).toEqual({ code: 0, out: "Written: api/openapi.json\n", err: "" });
    const text = await project.read("api/openapi.json");
    expect(text).toMatch(/\}\n$/);
    expect(Object.keys((JSON.parse(text) as Document).paths)).toContain("/api/notes");
    // The document's own URL differs; the API's description does not.
    expect((JSON.parse(text) as Document).paths["/api/notes"]).toEqual(
      (JSON.parse(out) as Document).paths["/api/notes"],
    );
  });

  it("reports that it needs the plugin", async () => {
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
