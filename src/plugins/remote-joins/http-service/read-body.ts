import { RemoteFailure } from "../remote-failure.ts";

/** Bytes that a call may still read. */
export interface ByteBudget {
  left: number;
}

/**
 * Reads an answer as text, and no further than the budget goes.
 * @throws RemoteFailure when it is longer, or not UTF-8
 */
export async function readBody({ body }: Response, budget: ByteBudget, host: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  // What counts is what is held in memory: a length that was announced may be wrong, and be that of compressed bytes.
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    budget.left -= chunk.byteLength;
    if (budget.left < 0) throw new RemoteFailure("invalid", `${host} answered with more than \`maxBytes\``);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new RemoteFailure("invalid", `${host} answered with bytes that are not UTF-8`);
  }
}
