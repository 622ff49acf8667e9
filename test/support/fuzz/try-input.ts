import { leaksIn } from "./canaries.ts";
import { describeInput, type SentInput } from "./fuzz-input.ts";
import { wrongChanges } from "./judge-changes.ts";
import { problemsOf } from "./judge-response.ts";
import { sendBytes } from "./send-bytes.ts";
import { changesBetween } from "./stored-rows.ts";
import { readStrictly, type StrictResponse } from "./strict-responses.ts";
import type { ClassCounter } from "./tally.ts";
import type { FuzzWorld } from "./world.ts";

/** Sends inputs to a world, one after the other, and throws for the first violation. */
export async function createTrial(world: FuzzWorld, counter: ClassCounter) {
  const seeded = await world.snapshots.read();

  return async (input: SentInput): Promise<void> => {
    counter.try(input.host, input.bytes.length);
    const problems: string[] = [];
    const responses = await exchange(input, problems);
    await world.idle();
    const after = await world.snapshots.read();
    problems.push(...wrongChanges(input, responses, seeded, after), ...(await problemsOfServer(world)));
    if (changesBetween(seeded, after).length > 0) await world.snapshots.restore();
    if (problems.length > 0) throw new Error(`${problems.join("\n")}\nafter ${describeInput(input)}`);
    counter.survive(responses.map(({ status }) => status));
  };

  async function exchange(input: SentInput, problems: string[]): Promise<StrictResponse[]> {
    const { host, bytes, packets, caller, isHead, isWhole, isForbidden } = input;
    let responses: StrictResponse[] = [];
    try {
      const waits = isWhole ? undefined : world.waits;
      const answer = await sendBytes(world.ports[host], bytes, { packets, waits });
      const shown = readable(answer);
      problems.push(...leaksIn(shown, caller, readable(bytes), world.secrets).map((leak) => `shows ${leak}`));
      responses = readStrictly(answer, isHead);
    } catch (error) {
      problems.push((error as Error).message);
      return responses;
    }
    if (isWhole && responses.length !== 1) problems.push(`${responses.length} answers to one request`);
    if (isForbidden && responses.some(({ status }) => status < 400)) problems.push("grants what nobody may ask for");
    for (const response of responses) problems.push(...problemsOf(response, input, host));
    return responses;
  }
}

/** Bytes as text, together with the decoded contents of cursors and escapes. */
function readable(bytes: Buffer): string {
  const text = bytes.toString("latin1");
  const inside = text.match(/[A-Za-z0-9_-]{16,}/g)?.map((word) => Buffer.from(word, "base64url").toString("latin1"));
  const unescaped = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return [text, unescaped, ...(inside ?? [])].join("\n");
}

async function problemsOfServer(world: FuzzWorld): Promise<string[]> {
  // A client that was cut off gets no message; a 503 is already a finding.
  const errors = world.takeErrors().filter((line) => !line.includes('"code":"UNAVAILABLE"'));
  const alive = await fetch(`http://127.0.0.1:${world.ports.node}/health/live`).then(
    (response) => response.text().then(() => response.status),
    String,
  );
  return alive === 200 ? errors.map((line) => `logs ${line}`) : [...errors, `is not alive any more: ${alive}`];
}
