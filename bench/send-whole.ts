import { Agent, type IncomingMessage, request } from "node:http";
import type { LoadJob } from "./load-process.ts";
import type { Sent } from "./sent.ts";
import type { LoadRequest } from "./workloads.ts";

/** The status of an answer that was read to its end, or 0. */
function ask(agent: Agent, port: number, { method, path, headers = {}, body }: LoadRequest): Promise<number> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const options = { agent, host: "127.0.0.1", port, method, path, headers: { ...headers, ...length } };
    const asked = request(options, (response: IncomingMessage) => {
      response.on("close", () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
      response.resume();
    });
    asked.on("error", () => resolve(0));
    asked.end(body);
  });
}

/**
 * Sends requests for so long, each connection its own, and waits for the last answers: nothing is cut off, so CPU time
 * belongs to whole answers.
 */
export async function sendWhole(job: LoadJob, dealt: readonly (readonly LoadRequest[])[]): Promise<Sent> {
  const durations: number[] = [];
  let failed = 0;
  const begun = performance.now();
  const end = begun + job.seconds * 1000;
  const connection = async (mine: readonly LoadRequest[]): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; performance.now() < end; index++) {
      const started = performance.now();
      const status = await ask(agent, job.port, mine[index % mine.length] as LoadRequest);
      durations.push(performance.now() - started);
      if (status < 200 || status > 299) failed++;
    }
    agent.destroy();
  };
  await Promise.all(dealt.map(connection));
  return { durations, failed, sent: durations.length, seconds: (performance.now() - begun) / 1000 };
}
