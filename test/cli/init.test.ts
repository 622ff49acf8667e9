import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fits } from "../../src/cli/doctor/examine.ts";
import { HOST_NAMES, LOGINS_NAMES } from "../../src/cli/init/scaffold.ts";
import { packageManifest } from "../../src/cli/shell/package-root.ts";
import { compileProblems } from "../support/compile-problems.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { builtPackage } from "./built-package.ts";
import { openProject, type TestProject } from "./project.ts";
import { startCommand } from "./start-process.ts";

async function scaffolded(...words: string[]): Promise<TestProject & { readonly said: string }> {
  const project = await openProject({}, false);
  onTestFinished(() => project.remove());
  const { code, out, err } = await project.run("init", ...words);
  expect([code, err]).toEqual([0, ""]);
  return { ...project, said: out };
}

describe("keelson init", () => {
  it("writes a project into an empty folder, and names the commands to test and serve", async () => {
    const project = await scaffolded("--name=My Shop");
    expect(await project.list()).toEqual([
      ".env",
      ".gitignore",
      "AGENTS.md",
      "README.md",
      "keelson.config.ts",
      "package.json",
      "src",
      "test",
      "tsconfig.json",
      "vitest.config.ts",
    ]);
    expect(project.said).toMatch(/^my-shop: \d+ files written\.\n\n {2}npm install && npm test\n {2}npm run dev\n$/);
    expect(await project.read("src/tokens.ts")).toContain('audience: "my-shop"');
    expect(await project.read(".env")).toMatch(/^JWT_SECRET=[\w-]{64}\nENCRYPTION_KEY=[0-9a-f]{64}$/m);
    expect(await project.read(".gitignore")).toContain(".env\n");
  });

  it("writes into a folder that it creates, and asks nothing without a terminal", async () => {
    const project = await openProject({ "other.txt": "" }, false);
    onTestFinished(() => project.remove());
    expect(await project.run("init", "shop/api")).toMatchObject({
      code: 0,
      out: expect.stringContaining("  cd shop/api\n"),
    });
    expect(JSON.parse(await project.read("shop/api/package.json")).scripts.dev).toBe("keelson dev");
  });

  it("refuses a folder that is not empty, and changes nothing", async () => {
    const project = await openProject({ "a.txt": "", "b.txt": "", "c.txt": "", "d.txt": "", ".git/HEAD": "" }, false);
    onTestFinished(() => project.remove());
    expect(await project.run("init")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "The folder is not empty (a.txt, b.txt, c.txt, …). Name another one: keelson init <folder>",
      ),
    });
    expect(await project.list()).toEqual([".git", "a.txt", "b.txt", "c.txt", "d.txt"]);
    expect((await project.run("init", "a.txt")).err).toContain("is not a folder");
  });

  it.each([...HOST_NAMES.map((host) => [host, "tokens"] as const), ["node", "better-auth"] as const])(
    "pins the versions that this package is tested with, for %s with %s",
    async (host, logins) => {
      const project = await scaffolded(`--host=${host}`, `--logins=${logins}`);
      const { dependencies, devDependencies, scripts } = JSON.parse(await project.read("package.json"));
      const { version, peerDependencies } = packageManifest();
      expect(dependencies.keelson).toBe(version);
      for (const range of Object.values({ ...dependencies, ...devDependencies }))
        expect(range).toMatch(/^\d+\.\d+\.\d+/);
      for (const [name, range] of Object.entries(dependencies))
        if (name.startsWith("@prisma/"))
          expect([name, fits(String(range), peerDependencies[name] ?? "")]).toEqual([name, true]);
      expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["dev", "start", "test", "check"]));
      expect(await project.read("README.md")).not.toContain("__NAME__");
    },
  );

  it("has only templates that compile unchanged", async () => {
    await mkdir(join(repositoryRoot, ".cache"), { recursive: true });
    const folder = await mkdtemp(join(repositoryRoot, ".cache", "init-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    // Each host and each kind of login, combined with the shared files, where imports resolve as in this repository.
    for (const host of HOST_NAMES)
      for (const logins of LOGINS_NAMES)
        for (const part of ["base", `logins/${logins}`, `hosts/${host}`]) {
          const template = join(repositoryRoot, "templates", part);
          if (existsSync(template)) await cp(template, join(folder, `${host}-${logins}`), { recursive: true });
        }
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(60);
    expect(compileProblems(files.map((path) => join(folder, path)))).toEqual([]);
  }, 240_000);

  async function tested(...words: string[]): Promise<TestProject> {
    const project = await scaffolded(...words);
    await project.link("vitest", "typescript", "@types/node", "vite", "better-auth");
    await symlink(await builtPackage(), join(project.folder, "node_modules/keelson"));
    const { NODE_ENV: _, VITEST: __, ...env } = process.env;
    const tests = spawnSync(process.execPath, [join(repositoryRoot, "node_modules/vitest/vitest.mjs"), "run"], {
      cwd: project.folder,
      encoding: "utf8",
      env: env as NodeJS.ProcessEnv,
    });
    expect(tests.stdout + tests.stderr).toMatch(/[45] passed/);
    expect(tests.status).toBe(0);
    return project;
  }

  it("creates a project whose own tests pass, and that serves what they expect", { timeout: 240_000 }, async () => {
    const project = await tested("--host=node");
    const command = await startCommand(project.folder, ["dev", "--port=0"]);
    const [url] = await command.until(/http:\/\/localhost:\d+/);
    const post = async (path: string, body: unknown, token = "") => {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
      const response = await fetch(`${url}/api${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const ann = { name: "Ann", email: "ann@mail.example", password: "correct horse battery" };
    expect((await post("/users", ann)).status).toBe(201);
    const { body } = await post("/users/login", { email: ann.email, password: ann.password });
    expect((await post("/tasks", { title: "Water the plants" })).status).toBe(401);
    const made = await post("/tasks", { title: "Water the plants" }, body.token as string);
    expect(made).toMatchObject({ status: 201, body: { title: "Water the plants", done: false } });
    // The linter finds nothing in the new project.
    expect(command.said()).not.toContain("warning");
  });

  it("creates a project with better-auth accounts, where users can sign up", { timeout: 240_000 }, async () => {
    const project = await tested("--host=node", "--logins=better-auth", "--name=My Shop");
    expect(await project.read(".env")).toMatch(/^AUTH_SECRET=[\w-]{64}\n$/m);
    expect(await project.read("README.md")).toContain("# my-shop\n");
    const command = await startCommand(project.folder, ["dev", "--port=0"]);
    const [url] = await command.until(/http:\/\/localhost:\d+/);
    const post = (path: string, body: object, cookie = "") => {
      const headers = { "content-type": "application/json", origin: "http://localhost:3000", cookie };
      return fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    };
    const ann = { name: "Ann", email: "ann@mail.example", password: "correct horse battery" };
    const { status, headers } = await post("/auth/sign-up/email", ann);
    const cookie = headers.get("set-cookie")?.split(";")[0];
    const made = await post("/api/tasks", { title: "Water the plants" }, cookie);
    expect([status, made.status, (await post("/api/tasks", { title: "Water" })).status]).toEqual([200, 201, 401]);
    expect(command.said()).not.toContain("warning");
  });
});
