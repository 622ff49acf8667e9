import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { childProgram } from "../../support/child-program.ts";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { headerOf } from "../../support/raw-response.ts";
import { told } from "../../support/told.ts";
import { untilRefused } from "../../support/until-refused.ts";

const REQUESTS = 20;

/** A child process with a server and twenty pending requests. */
async function startBusy(gracePeriod: number, ...more: string[]) {
  const script = await childProgram(new URL("serve.child.ts", import.meta.url));
  const child = spawn(process.execPath, [script, String(gracePeriod), ...more], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = await told<number>(child, "port");
  const busy = told(child, "waiting", REQUESTS);
  const keepAlive = requestBytes("GET", "/", ["Connection: keep-alive"]);
  const answers = Array.from({ length: REQUESTS }, () => rawRequest(port, keepAlive));
  await busy;
  return {
    child,
    port,
    answers: Promise.all(answers),
    ended: once(child, "exit"),
    closed: told<boolean>(child, "closed"),
  };
}

describe.each(["SIGTERM", "SIGINT"] as const)("%s", (signal) => {
  it("finishes pending responses, refuses new requests, closes and exits with 0", async () => {
    const { child, port, answers, ended, closed } = await startBusy(10_000);
    child.kill(signal);
    await untilRefused(port);
    child.send("go");
    const responses = (await answers).flat();
    expect(responses.map(({ status }) => status)).toEqual(Array(REQUESTS).fill(200));
    for (const response of responses) expect(headerOf(response, "connection")).toBe("close");
    expect(await closed).toBe(true);
    expect(await ended).toEqual([0, null]);
  });
});

describe("a process that gets a signal to end", () => {
  it("cuts responses that exceed the grace period, and exits with 0", async () => {
    const { child, answers, ended, closed } = await startBusy(50);
    child.kill("SIGTERM");
    expect((await answers).flat()).toEqual([]);
    expect(await closed).toBe(true);
    expect(await ended).toEqual([0, null]);
  });

  it("exits with 1 when the app cannot be closed", async () => {
    const { child, answers, ended } = await startBusy(50, "broken");
    child.kill("SIGTERM");
    await answers;
    expect(await ended).toEqual([1, null]);
  });

  it("exits with 1 at once at a second signal", async () => {
    const { child, port, answers, ended } = await startBusy(10_000);
    child.kill("SIGTERM");
    await untilRefused(port);
    child.kill("SIGINT");
    expect(await ended).toEqual([1, null]);
    await answers;
  });
});
