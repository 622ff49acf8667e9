import { spawn } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { childProgram } from "../support/child-program.ts";
import { rawRequest, requestBytes } from "../support/http.ts";
import { headerOf } from "../support/raw-response.ts";
import { told } from "../support/told.ts";
import { untilRefused } from "../support/until-refused.ts";

const REQUESTS = 20;
const NOTES = 5_000;

/** A child process with twenty pending requests and an export; if the host has its own routes, one request is to those. */
async function startBusy(host: string, gracePeriod: number) {
  const script = await childProgram(new URL("shutdown.child.ts", import.meta.url));
  const child = spawn(process.execPath, [script, host, String(gracePeriod)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = await told<number>(child, "port");
  const paths = Array<string>(REQUESTS).fill("/api/users/ann");
  if (host !== "serve") paths.push("/own");
  const busy = told(child, "begun", paths.length + 1);
  const [exported] = await once(get({ port, path: "/api/notes/export?format=csv", agent: false }), "response");
  const answers = paths.map((path) => rawRequest(port, requestBytes("GET", path, ["Connection: keep-alive"])));
  const ends = { ended: once(child, "exit"), closed: told<boolean>(child, "closed") };
  return { child, port, exported: exported as IncomingMessage, answers: Promise.all(answers), busy, ...ends };
}

async function linesOf(exported: IncomingMessage): Promise<number> {
  let lines = 0;
  for await (const piece of exported as AsyncIterable<Buffer>) for (const byte of piece) if (byte === 10) lines += 1;
  return lines;
}

describe.each(["serve", "Express 5", "Express 4", "Hono"])("SIGTERM, on %s", (host) => {
  it("finishes twenty requests and an export, refuses new ones, and exits with 0", async () => {
    const { child, port, exported, answers, busy, ended, closed } = await startBusy(host, 10_000);
    const lines = linesOf(exported);
    await busy;
    child.kill("SIGTERM");
    await untilRefused(port);
    child.send("go");
    const responses = (await answers).flat();
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(responses.length).toBeGreaterThanOrEqual(REQUESTS);
    for (const response of responses) expect(headerOf(response, "connection")).toBe("close");
    expect(await lines).toBe(NOTES + 1);
    expect(exported.complete).toBe(true);
    expect(await closed).toBe(true);
    expect(await ended).toEqual([0, null]);
  });

  it("cuts what exceeds the grace period, closes the app and exits with 0", async () => {
    const { child, exported, answers, busy, ended, closed } = await startBusy(host, 50);
    const lines = linesOf(exported);
    lines.catch(() => {});
    await busy;
    child.kill("SIGTERM");
    expect((await answers).flat()).toEqual([]);
    await expect(lines).rejects.toMatchObject({ code: "ECONNRESET" });
    child.send("go"); // an app is closed when its last statement has ended
    expect(await closed).toBe(true);
    expect(await ended).toEqual([0, null]);
  });
});
