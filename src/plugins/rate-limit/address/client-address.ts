import type { KernelRequest } from "../../../kernel/index.ts";
import { type Address, readAddress } from "./read-address.ts";
import type { Trusts } from "./trusted-proxies.ts";

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

/**
 * The address a request comes from: the other end of its connection, or what trusted proxies report. Each proxy appends
 * the address that called it to `X-Forwarded-For`, so the list is read from the right. Entries to the left of the first
 * untrusted address may be forged. Undefined when the host does not provide an address.
 */
export function clientAddress({ address: peer, headers }: KernelRequest, trusts: Trusts): Address | undefined {
  let address = peer === undefined ? undefined : readAddress(peer);
  const forwarded = headers["x-forwarded-for"];
  if (forwarded === undefined || !trusts(0, address)) return address;
  const entries = (typeof forwarded === "string" ? forwarded : forwarded.join(",")).split(",");
  for (let hop = 1; hop <= entries.length; hop++) {
    const entry = (entries[entries.length - hop] as string).trim();
    const [, bracketed, plain] = WITH_PORT.exec(entry) ?? [];
    const next = readAddress(bracketed ?? plain ?? entry);
    // "unknown", or nonsense: the proxy that was asked by it is the last one that is known.
    if (next === undefined) return address;
    address = next;
    if (!trusts(hop, address)) return address;
  }
  return address;
}
