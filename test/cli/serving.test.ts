import { describe, expect, it, onTestFinished } from "vitest";
import { openProject } from "./project.ts";
import { startCommand } from "./start-process.ts";

const CONFIG = `
  import { defineConfig } from "keelson";
  import { note } from "./src/note.ts";
  export default defineConfig({ entities: [note] });
`;
const NOTE = (fields: string) => `
  import { entity, string } from "keelson";
  export const note = entity("note", { ${fields} }).rules({ read: ["everyone"], create: ["everyone"] });
`;
const URL_PATTERN = /http:\/\/localhost:\d+/;
/** Processes start slowly on a busy machine. */
const PATIENCE = 120_000;

async function notesProject() {
  const project = await openProject({ "keelson.config.ts": CONFIG, "src/note.ts": NOTE("title: string") });
  onTestFinished(() => project.remove());
  return project;
}

async function post(url: string, body: unknown): Promise<number> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return (await fetch(`${url}/api/notes`, init)).status;
}

describe("keelson dev", { timeout: PATIENCE }, () => {
  it("says that the database is not available, and serves", async () => {
    const project = await openProject({
      "keelson.config.ts": `
        import { defineConfig, entity, postgres, string } from "keelson";
        const note = entity("note", { title: string }).rules({ read: ["everyone"] });
        export default defineConfig({ entities: [note], driver: postgres("postgres://127.0.0.1:1/none") });
      `,
    });
    onTestFinished(() => project.remove());
    const command = await startCommand(project.folder, ["dev", "--port=0"]);
    await command.until(/Database +postgres, not available; requests get 503 until it is/);
    const [url] = await command.until(URL_PATTERN);
    expect((await fetch(`${url}/api/notes`)).status).toBe(503);
  });

  it("pushes the tables, serves, prints the URL, and restarts after changes", async () => {
    const project = await notesProject();
    const command = await startCommand(project.folder, ["dev", "--port=0"]);
    const [first] = await command.until(URL_PATTERN);
    await command.until(/Try/);
    expect(command.said()).toMatch(/API +http.*\/api {2}\(\d+ routes/);
    expect(command.said()).toContain(".keelson/app.db");
    expect(await post(first, { title: "a" })).toBe(201);
    expect(await post(first, { title: "a", text: "b" })).toBe(400);

    let mark = command.said().length;
    await project.write("src/note.ts", NOTE("title: string, text: string.optional()"));
    await command.until(/note\.ts changed/, mark);
    const [second] = await command.until(URL_PATTERN, mark);
    expect(await post(second, { title: "a", text: "b" })).toBe(201);

    mark = command.said().length;
    await project.write("src/note.ts", "export const note = ;");
    await command.until(/Waiting for a change/, mark);
    expect(command.said().slice(mark)).toContain("keelson.config.ts failed");
    await project.write("src/note.ts", NOTE("title: string, text: string.optional()"));
    const [third] = await command.until(URL_PATTERN, mark);
    expect(((await (await fetch(`${third}/api/notes`)).json()) as unknown[]).length).toBe(2);

    command.child.kill("SIGINT");
    expect(await command.ended).toBe(0);
    await expect(fetch(third)).rejects.toThrow();
  });

  it("finishes pending requests when Ctrl-C reaches all processes, more than once", async () => {
    const project = await notesProject();
    await project.write(
      "src/note.ts",
      `import { action, entity, string } from "keelson";
       const slow = action().rules("everyone").handler(async () => {
         process.stdout.write("begun\\n");
         await new Promise((resolve) => setTimeout(resolve, 1_500));
         return { done: true };
       });
       export const note = entity("note", { title: string }).rules({ read: ["everyone"] }).actions({ slow });`,
    );
    const command = await startCommand(project.folder, ["dev", "--port=0"], {}, { group: true });
    const [url] = await command.until(URL_PATTERN);
    const answer = fetch(`${url}/api/notes/slow`, { method: "POST" });
    await command.until(/begun/);
    // The terminal signals every process there, and npm forwards the signal again.
    process.kill(-(command.child.pid as number), "SIGINT");
    command.child.kill("SIGINT");
    expect((await answer).status).toBe(200);
    expect(await command.ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("shows the linter's warnings, and runs a project's own server", async () => {
    const project = await notesProject();
    await project.write(
      "src/note.ts",
      'import { entity, string } from "keelson"; export const note = entity("note", { title: string });',
    );
    const linted = await startCommand(project.folder, ["dev", "--no-watch", "--port=0"]);
    await linted.until(/warning {2}note: no caller may create, read, update or delete it/);
    await project.write(
      "src/server.ts",
      `import { createServer } from "node:http";
       const answer: string = process.env.NODE_ENV ?? "";
       const server = createServer((_request, response) => void response.end(answer));
       server.listen(0, () => console.log("http://localhost:" + (server.address() as { port: number }).port));`,
    );
    const own = await startCommand(project.folder, ["dev", "src/server.ts", "--no-watch"]);
    const [url] = await own.until(URL_PATTERN);
    expect(await (await fetch(url)).text()).toBe("development");
    const none = await startCommand(project.folder, ["start", "src/nowhere.ts"]);
    expect(await none.ended).toBe(1);
    expect(none.said()).toContain("There is no file src/nowhere.ts");
    expect((await project.run("start", "src")).err).toContain("There is no file src");
  });
});

describe("keelson start", { timeout: PATIENCE }, () => {
  it("changes no table, and refuses to serve until they match", async () => {
    const project = await notesProject();
    const refused = await startCommand(project.folder, ["start", "--port=0"]);
    expect(await refused.ended).toBe(1);
    expect(refused.said()).toContain('The database does not fit the entities: table "note" is missing');
    expect(refused.said()).toContain("Before the app starts, run: keelson migrate deploy");
    expect((await project.run("db", "push")).code).toBe(0);
    const command = await startCommand(project.folder, ["start"], { PORT: "0" });
    const [url] = await command.until(URL_PATTERN);
    expect(await post(url, { title: "a" })).toBe(201);
    command.child.kill("SIGTERM");
    expect(await command.ended).toBe(0);
  });

  it("refuses a port that is not valid", async () => {
    const project = await notesProject();
    expect(await project.run("start", "--port=high")).toMatchObject({
      code: 1,
      err: expect.stringContaining('not "high"'),
    });
  });
});
