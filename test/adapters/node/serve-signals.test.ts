import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { headerOf } from "../../support/raw-response.ts";

const REQUESTS = 20;

interface Message {
  readonly port?: number;
  readonly waiting?: number;
  readonly closed?: boolean;
}

/** The first message of a child that has this member, with this value if one is given. */
function told<K extends keyof Message>(child: ChildProcess, key: K, value?: Message[K]): Promise<Message[K]> {
  return new Promise((resolve) => {
    child.on("message", (message: Message) => {
      if (message[key] !== undefined && (value === undefined || message[key] === value)) resolve(message[key]);
    });
  });
}

/** A child process with a server and twenty requests that it has not answered. */
async function startBusy(gracePeriod: number, ...more: string[]) {
  const script = fileURLToPath(new URL("serve.child.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, String(gracePeriod), ...more], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = (await told(child, "port")) as number;
  const busy = told(child, "waiting", REQUESTS);
  const keepAlive = requestBytes("GET", "/", ["Connection: keep-alive"]);
  const answers = Array.from({ length: REQUESTS }, () => rawRequest(port, keepAlive));
  await busy;
  return { child, port, answers: Promise.all(answers), ended: once(child, "exit"), closed: told(child, "closed") };
}

async function untilRefused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const outcome = await Promise.race([
      once(socket, "connect").then(() => "accepted"),
      once(socket, "error").then(([error]) => (error as NodeJS.ErrnoException).code),
    ]).catch((error: NodeJS.ErrnoException) => error.code);
    socket.destroy();
    if (outcome === "ECONNREFUSED") return;
  }
}

describe.each(["SIGTERM", "SIGINT"] as const)("%s", (signal) => {
  it("finishes the answers in flight, refuses new requests, closes the app and exits with 0", async () => {
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

describe("a process that is told to end", () => {
  it("cuts the answers that outlast the grace period, and exits with 0", async () => {
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

  it("exits with 1 at once when it is told again", async () => {
    const { child, port, answers, ended } = await startBusy(10_000);
    child.kill("SIGTERM");
    await untilRefused(port);
    child.kill("SIGINT");
    expect(await ended).toEqual([1, null]);
    await answers;
  });
});
