import type { KernelRequest } from "../../../kernel/index.ts";
import { type Address, readAddress } from "./read-address.ts";
import type { Trusts } from "./trusted-proxies.ts";

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

/**
 * Where a request comes from: the other end of its connection, or what trusted proxies say of it. `X-Forwarded-For` is a list
 * to which each proxy adds whom it was asked by, so it is read from the right, and what is left of the first machine that is
 * not trusted may have been made up by it. Undefined where the host does not tell.
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
