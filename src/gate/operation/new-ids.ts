import { v7 } from "uuid";

/** Makes record ids: unique, opaque, at most 128 characters. The default makes UUIDs version 7. */
export interface IdGenerator {
  next(): string;
}

/** Number of ids to get random bytes for in one call; one call per id would dominate the cost of an id. */
const IDS_AT_ONCE = 256;

/** UUIDs version 7: unique without coordination, and in order of creation, which keeps indexes compact (RFC 9562). */
export const defaultIds: IdGenerator = Object.freeze({ next: idsInOrder() });

function idsInOrder(): () => string {
  const bytes = new Uint8Array(IDS_AT_ONCE * 16);
  let used = bytes.length;
  let msecs = 0;
  let seq = 0;
  return () => {
    if (used === bytes.length) {
      crypto.getRandomValues(bytes);
      used = 0;
    }
    const random = bytes.subarray(used, used + 16);
    used += 16;
    const now = Date.now();
    // Within a millisecond, and while the clock is behind, ids count up from a random 31-bit number.
    seq = now > msecs ? new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1 : (seq + 1) >>> 0;
    msecs = Math.max(msecs, now);
    return v7({ random, msecs, seq });
  };
}
