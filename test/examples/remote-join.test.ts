import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { builtKeelson } from "../cli/built-package.ts";
import { request } from "../support/http.ts";
import { repositoryRoot } from "../support/source-files.ts";

const built = await builtKeelson();

/** Her subscription, as billing returns it. */
const ANNS = { id: "sub-1", status: "active", renewsAt: "2030-01-01T00:00:00.000Z", plan: { name: "Pro" } };

const running = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of running) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  running.clear();
});

/** A program of the example, and what it has printed so far. */
function run(file: string, env: Record<string, string>) {
  const child = spawn(process.execPath, ["--import", "tsx", `examples/remote-join/${file}`], {
    cwd: repositoryRoot,
    env: { ...process.env, ...built, NODE_ENV: "development", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const listen of listeners) listen();
    });
  const says = (pattern: RegExp): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(output);
        if (found !== null) resolve([...found]);
      };
      listeners.add(look);
      child.once("exit", () => reject(new TypeError(`It ended without saying ${pattern}:\n${output}`)));
      look();
    });
  return { child, says };
}

/** Repeats a request until the response matches, because changes in other processes take a moment. */
async function askUntil(ask: () => ReturnType<typeof request>, fits: (json: { subscription: unknown }) => boolean) {
  const deadline = Date.now() + 20_000;
  let answer = await ask();
  while (!fits(answer.json) && Date.now() < deadline) {
    await pause(200);
    answer = await ask();
  }
  return answer;
}

async function isGone(pid: number): Promise<boolean> {
  for (let i = 0; i < 100; i++) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await pause(100);
  }
  return false;
}

describe("examples/remote-join", { timeout: 120_000 }, () => {
  it("joins two servers in two processes, works without one, and joins it again", async () => {
    const { child, says } = run("start.ts", { PORT: "0", BILLING_PORT: "0" });
    const ended = once(child, "exit");
    await says(/Ctrl-C/);
    const [, shop = ""] = await says(/^Shop +(\S+)\/api$/m);
    const [, billing = "", pid = ""] = await says(/^Billing +(\S+), process (\d+)$/m);
    const [, path = ""] = await says(/curl -i '\S+?(\/api\/customers\/ann\S+)' -H 'Authorization: Bearer ann'/);
    const [, killed = ""] = await says(/kill -9 (\d+)/);
    const [, port = "", secret = ""] = await says(/PORT=(\d+) BILLING_SECRET=(\S+) npx tsx (examples\S+)/);
    expect(killed).toBe(pid);
    const askAs = (token: string, target = path) => request(shop, "GET", target, { token });

    const joined = await askAs("ann");
    expect([joined.status, joined.headers.get("x-remote-errors")]).toEqual([200, null]);
    expect(joined.json).toMatchObject({ name: "Ann", subscription: ANNS });
    for (const hidden of ["note", "card"]) expect(joined.json.subscription).not.toHaveProperty(hidden);
    const forAdmin = await askAs("root", "/api/customers?include=subscription&_sort=id");
    expect(forAdmin.json).toMatchObject([
      { subscription: { id: "sub-1", note: "Asked for a discount" } },
      { subscription: { id: "sub-2", status: "cancelled" } },
      { subscription: null },
    ]);
    expect(JSON.stringify(forAdmin.json)).not.toContain("4242 4242");
    expect((await request(billing, "GET", "/subscriptions", { token: "root" })).status).toBe(401);
    expect((await request(billing, "GET", "/subscriptions")).status).toBe(401);

    process.kill(Number(pid), "SIGKILL");
    expect(await isGone(Number(pid))).toBe(true);
    for (let i = 0; i < 5; i++) {
      const { status, headers, json } = await askAs("ann");
      expect([status, headers.get("x-remote-errors")]).toEqual([200, "subscription;unavailable"]);
      expect(json).toMatchObject({ name: "Ann", subscriptionId: "sub-1", subscription: null });
    }

    await run("billing/start.ts", { PORT: port, BILLING_SECRET: secret }).says(/^Billing +\S+/m);
    const again = await askUntil(
      () => askAs("ann"),
      ({ subscription }) => subscription !== null,
    );
    expect(again.headers.get("x-remote-errors")).toBeNull();
    expect(again.json).toMatchObject({ name: "Ann", subscription: ANNS });

    child.kill("SIGINT");
    expect((await ended)[0]).toBe(0);
  });

  it("ends both processes when the first one ends", async () => {
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const { child, says } = run("start.ts", { PORT: "0", BILLING_PORT: "0" });
      const [, pid = ""] = await says(/process (\d+)/);
      child.kill(signal);
      expect(await isGone(Number(pid))).toBe(true);
    }
  });

  it("is started by npm run example:remote-join", async () => {
    const { scripts } = JSON.parse(await readFile(`${repositoryRoot}/package.json`, "utf8"));
    expect(scripts["example:remote-join"]).toBe("tsx examples/remote-join/start.ts");
  });
});
