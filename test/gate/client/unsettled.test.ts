import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** A script in a separate process, which ends when nothing keeps it alive. */
async function run(body: string): Promise<string> {
  const entry = JSON.stringify(new URL("../../../src/index.ts", import.meta.url).href);
  const script = `
    import { defineRule, entity, keelson, memoryDriver, noopLogger, string } from ${entry};
    const never = () => new Promise(() => {});
    const base = { driver: memoryDriver(), logger: noopLogger, limits: { ruleMs: 50, hookMs: 50, requestMs: 50 } };
    ${body}`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--import",
    "tsx",
    "--input-type=module",
    "--eval",
    script,
  ]);
  return stdout.trim();
}

it("a script whose rule or request never settles gets a refusal, and then ends", async () => {
  const said = await run(`
    const note = entity("note", { text: string }).rules({ read: [defineRule("stuck", never)] });
    const api = keelson({ ...base, entities: [note] });
    await api.as({ id: "ann" }).note.list().catch((error) => console.log(error.code));
    const slow = entity("slow", { text: string }).rules({ read: ["everyone"] }).actions({
      hang: { method: "GET", path: "/hang", rules: ["everyone"], handler: never },
    });
    const hanging = keelson({ ...base, driver: memoryDriver(), entities: [slow] });
    console.log((await hanging.fetch(new Request("http://localhost/api/slows/hang"))).status);
  `);
  expect(said.split("\n")).toEqual(["FORBIDDEN", "503"]);
}, 30_000);
