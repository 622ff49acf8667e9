import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openProject, type TestProject } from "./project.ts";
import { startCommand } from "./start-process.ts";

// Each command sets up a whole app, and some start Prisma's engine, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const KEYS = { old: "a1".repeat(32), next: "b2".repeat(32) };
const CONFIG = (encryption: string) => `
  import { defineConfig, entity, string } from "keelson";
  export const note = entity("note", { title: string, secret: string.optional().encrypted() }).rules({ read: ["admin"] });
  export default defineConfig({ entities: [note], ${encryption} });
`;
const OLD = `encryption: { key: "${KEYS.old}", keyId: "old", bind: true }`;
const BOTH = `encryption: { key: "${KEYS.next}", keyId: "next", bind: true, keys: [{ key: "${KEYS.old}", keyId: "old", bind: true }] }`;
const NEXT = `encryption: { key: "${KEYS.next}", keyId: "next", bind: true }`;

let project: TestProject;
const config = (name: string) => `--config=${name}.config.ts`;

beforeEach(async () => {
  project = await openProject({
    "old.config.ts": CONFIG(OLD),
    "both.config.ts": CONFIG(BOTH),
    "next.config.ts": CONFIG(NEXT),
    "fill.config.ts": `
      import { keelson } from "keelson";
      import config from "./old.config.ts";
      const api = keelson(config);
      await api.ready;
      for (let i = 0; i < 25; i++) await api.asSystem().note.create({ title: "n" + i, secret: i < 20 ? "s" + i : null });
      await api.close();
      export default config;`,
  });
  await project.run("routes", config("fill"));
});
afterEach(() => project.remove());

describe("keelson keys", () => {
  it("generates a key and prints nothing else", async () => {
    const { code, out, err } = await project.run("keys", "generate");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it("counts the values of each key, and shows no key", async () => {
    const { code, out } = await project.run("keys", "status", config("both"));
    expect(code).toBe(0);
    expect(out).toMatch(/^note +secret +old +old +20$/m);
    expect(out).not.toMatch(/a1a1|b2b2/);
    expect(JSON.parse((await project.run("keys", "status", "--json", config("old"))).out)).toEqual({
      keys: ["old"],
      usages: [{ entity: "note", field: "secret", keyId: "old", values: 20, state: "primary" }],
    });
  });

  it("fails when values have a key that is not configured", async () => {
    expect(await project.run("keys", "status", config("next"))).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^note +secret +old +missing +20$/m),
    });
  });

  it("removes no key that a value needs, and says when a key can be removed", async () => {
    const refused = await project.run("keys", "remove", "old", config("both"));
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('20 stored values may need the key "old"'),
    ]);
    const rotated = await project.run("keys", "rotate", config("both"));
    expect(rotated).toMatchObject({ code: 0, out: '20 values were given the key "next".\n' });
    expect(rotated.err).toContain("20 of 20 records");
    expect(await project.run("keys", "remove", "old", config("both"))).toMatchObject({
      code: 0,
      out: expect.stringContaining('No stored value needs the key "old".'),
    });
    expect((await project.run("keys", "status", config("next"))).out).toMatch(/^note +secret +next +primary +20$/m);
    expect(await project.list()).not.toContain("key-rotation.json");
  });

  it("refuses to remove the encrypting key and unknown keys", async () => {
    expect((await project.run("keys", "remove", "next", config("both"))).err).toContain(
      '"next" is the key that encrypts',
    );
    expect((await project.run("keys", "remove", "olt", config("both"))).err).toContain('Did you mean "old"?');
  });

  it("reports values that do not decrypt, without showing them, and fails", async () => {
    const { code, out, err } = await project.run("keys", "rotate", config("next"));
    expect([code, out]).toEqual([1, '0 values were given the key "next".\n']);
    expect(err).toContain("20 values could not be decrypted");
    expect(err).toMatch(/ {2}note [0-9a-f-]{36} secret: unknown-key/);
    expect(err).not.toMatch(/old:[A-Za-z0-9+/]/);
    const json = JSON.parse((await project.run("keys", "rotate", "--json", config("next"))).out);
    expect(json).toMatchObject({ keyId: "next", complete: true, failed: 20, failures: { length: 20 } });
  });

  it("continues an interrupted rotation", async () => {
    const cutOff = {
      keyId: "next",
      entity: null,
      after: null,
      finished: ["note"],
      total: 20,
      records: 20,
      reEncrypted: 0,
      overtaken: 0,
      failed: 0,
    };
    await project.write(".keelson/key-rotation.json", JSON.stringify(cutOff));
    // What was reported as done is skipped once.
    expect((await project.run("keys", "rotate", config("both"))).out).toBe('0 values were given the key "next".\n');
    expect((await project.run("keys", "rotate", config("both"))).out).toBe('20 values were given the key "next".\n');
    await project.write(".keelson/key-rotation.json", "{");
    expect((await project.run("keys", "rotate", config("both"))).code).toBe(0);
  });

  it("stops a rotation between two records at Ctrl-C, and continues from there", async () => {
    const records = 2_000;
    await project.write(
      "more.config.ts",
      `import { keelson } from "keelson";
       import config from "./old.config.ts";
       const api = keelson(config);
       await api.ready;
       for (let i = 0; i < ${records}; i++) await api.asSystem().note.create({ title: "m" + i, secret: "s" + i });
       await api.close();
       export default config;`,
    );
    await project.run("routes", config("more"));
    const command = await startCommand(project.folder, ["keys", "rotate", config("both")]);
    await command.until(/^\d+ of \d+ records$/m);
    command.child.kill("SIGINT");
    expect(await command.ended).toBe(1);
    expect(command.said()).toContain("Stopped before the end. Run the command again to go on.");
    const [, first = "0"] = /^(\d+) values were given the key "next"/m.exec(command.said()) ?? [];
    expect(Number(first)).toBeGreaterThan(0);
    expect(Number(first)).toBeLessThan(records + 20);
    expect(JSON.parse(await project.read(".keelson/key-rotation.json"))).toMatchObject({
      keyId: "next",
      entity: "note",
    });

    const rest = await project.run("keys", "rotate", config("both"));
    expect(rest.code).toBe(0);
    expect(JSON.parse((await project.run("keys", "status", "--json", config("next"))).out).usages).toEqual([
      { entity: "note", field: "secret", keyId: "next", values: records + 20, state: "primary" },
    ]);
    await expect(project.read(".keelson/key-rotation.json")).rejects.toThrow();
  });

  it("says what to do if the tables do not match", async () => {
    const empty = await openProject({ "keelson.config.ts": CONFIG(NEXT) });
    for (const words of [["status"], ["rotate"]]) {
      const { code, err } = await empty.run("keys", ...words);
      expect(code).toBe(1);
      expect(err).toContain('The database does not fit the entities: table "note" is missing. Run: keelson db push');
    }
    await empty.remove();
  });

  it("uses keys in the environment too", async () => {
    await project.write("env.config.ts", CONFIG(""));
    process.env.KEELSON_ENCRYPTION_KEY = `next:${KEYS.next}, ${"c3".repeat(32)}`.replace(", ", ",third:");
    const status = await project.run("keys", "status", "--json", config("env"));
    process.env.KEELSON_ENCRYPTION_KEY = KEYS.next;
    const single = await project.run("keys", "status", "--json", config("env"));
    delete process.env.KEELSON_ENCRYPTION_KEY;
    expect(JSON.parse(status.out).keys).toEqual(["next", "third"]);
    expect(JSON.parse(single.out).keys).toEqual(["v1"]);
  });
});
