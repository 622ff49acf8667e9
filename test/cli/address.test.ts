import { networkInterfaces } from "node:os";
import { expect, it, onTestFinished } from "vitest";
import { openProject } from "./project.ts";
import { startCommand } from "./start-process.ts";

const FILES = {
  "keelson.config.ts": `
    import { defineConfig, memoryDriver } from "keelson";
    import { note } from "./src/note.ts";
    export default defineConfig({ entities: [note], driver: memoryDriver() });
  `,
  "src/note.ts": `
    import { entity, string } from "keelson";
    export const note = entity("note", { title: string }).rules({ read: ["everyone"] });
  `,
};
const URL_PATTERN = /http:\/\/[\w.]+:(\d+)/;
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

it.runIf(outside)("keelson dev serves this machine only, unless --host is given", { timeout: 120_000 }, async () => {
  const project = await openProject(FILES);
  onTestFinished(() => project.remove());
  const portOf = async (...options: string[]): Promise<string> => {
    const command = await startCommand(project.folder, ["dev", "--no-watch", "--port=0", ...options]);
    const [, port = ""] = await command.until(URL_PATTERN);
    onTestFinished(async () => {
      command.child.kill("SIGINT");
      await command.ended;
    });
    return port;
  };
  const own = await portOf();
  expect((await fetch(`http://localhost:${own}/api/notes`)).status).toBe(200);
  await expect(fetch(`http://${outside}:${own}/api/notes`)).rejects.toThrow();
  const open = await portOf("--host=0.0.0.0");
  expect((await fetch(`http://${outside}:${open}/api/notes`)).status).toBe(200);
});
