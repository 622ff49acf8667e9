import { PluginError } from "../../kernel/index.ts";

/** Bytes of a key set at most. Those of large issuers have a tenth of it. */
const MAX_BYTES = 262_144;

/**
 * Fetches a key set (RFC 7517 section 5); its keys are looked at when a token needs them.
 * @throws PluginError when the answer is no key set, or is longer than 256 KiB: it is not read any further then
 * @throws what `fetch` throws when there is no answer
 */
export async function fetchKeySet(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new PluginError(`The address of the keys answered with ${response.status}`);
  }
  const text = await readText(response);
  if (!isKeySet(text)) throw new PluginError("The address of the keys answered with something else");
  return new Response(text);
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // What counts is what is held in memory: a length that was announced may be wrong, and be that of compressed bytes.
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new PluginError(`The address of the keys answered with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function isKeySet(text: string): boolean {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    return false;
  }
  const keys = typeof set === "object" && set !== null ? (set as { keys?: unknown }).keys : undefined;
  return Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null && !Array.isArray(key));
}
