/**
 * Tries `keelson init` as somebody would who has never seen it: packs this package, and for each host and each kind of login makes a project
 * in an empty folder, installs it from the registry, and runs the two commands that were printed. Prints time and size.
 * `npm run build` comes first. `tsx scripts/try-init.ts [host...]`
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { npm, pack, packageRoot, userEnv } from "./packed-package.ts";

const HOSTS = ["node", "express", "hono", "next"];
const LOGINS = ["tokens", "better-auth"];
/** Milliseconds for a server to answer for the first time. */
const PATIENCE = 180_000;

const place = mkdtempSync(join(tmpdir(), "keelson-init-"));

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function answer(url: string, init?: RequestInit): Promise<Response> {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await wait(200);
    }
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  // npm and what it has started are one group.
  process.kill(-(child.pid as number), "SIGTERM");
  await ended;
}

/** The requests that the project's README names, and what plugins serve. */
async function checkServed(url: string, logins: string): Promise<void> {
  const send = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> => {
    const all = { "content-type": "application/json", ...headers };
    return answer(url + path, { method: "POST", headers: all, body: JSON.stringify(body) });
  };
  const signUp = async (): Promise<Record<string, string>> => {
    const ann = { name: "Ann", email: "ann@mail.example", password: "correct horse battery" };
    if (logins === "better-auth") {
      const { headers } = await send("/auth/sign-up/email", ann, { origin: url });
      return { cookie: headers.get("set-cookie")?.split(";")[0] ?? "", origin: url };
    }
    await send("/api/users", ann);
    const { token } = (await (await send("/api/users/login", { email: ann.email, password: ann.password })).json()) as {
      token: string;
    };
    return { authorization: `Bearer ${token}` };
  };
  const caller = await signUp();
  const statuses = [(await send("/api/tasks", { title: "Water the plants" }, { origin: url })).status];
  statuses.push((await send("/api/tasks", { title: "Water the plants" }, caller)).status);
  for (const path of ["/docs", "/docs/swagger-ui.css", "/openapi.json", "/health/live"])
    statuses.push((await answer(url + path)).status);
  if (String(statuses) !== "401,201,200,200,200,200") throw new Error(`answered ${statuses}, not 401,201,200,…`);
}

async function tryHost(host: string, logins: string, tarball: string): Promise<string> {
  const folder = join(place, `${host}-${logins}`);
  mkdirSync(folder);
  const begin = performance.now();
  npm(folder, "exec", "--yes", `--package=${tarball}`, "--", "keelson", "init", `--host=${host}`, `--logins=${logins}`);
  // A version that is not published yet comes from the tarball.
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  manifest.dependencies.keelson = `file:${tarball}`;
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  npm(folder, "install", "--prefer-offline", "--no-audit", "--no-fund");
  const installed = performance.now();
  npm(folder, "test");
  const tested = performance.now();
  const port = await freePort();
  const child = spawn("npm", ["run", "dev"], {
    cwd: folder,
    env: { ...userEnv, PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  try {
    await checkServed(`http://localhost:${port}`, logins);
  } finally {
    await stop(child);
  }
  const size = execFileSync("du", ["-sm", "node_modules"], { cwd: folder, encoding: "utf8" }).split("\t")[0];
  const seconds = (from: number, to: number): string => `${((to - from) / 1000).toFixed(1)} s`;
  const served = performance.now();
  return [
    host.padEnd(8),
    logins.padEnd(12),
    `init and install ${seconds(begin, installed)}`,
    `test ${seconds(installed, tested)}`,
    `dev until answered ${seconds(tested, served)}`,
    `${size} MB`,
  ].join("  ");
}

try {
  const { tarball } = pack(packageRoot, place);
  for (const host of process.argv.length > 2 ? process.argv.slice(2) : HOSTS)
    for (const logins of LOGINS) console.log(await tryHost(host, logins, tarball));
} catch (error) {
  console.error(`try-init: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
