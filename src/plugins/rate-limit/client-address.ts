import { BlockList, isIPv4, isIPv6 } from "node:net";
import type { KernelRequest } from "../../kernel/index.ts";

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
    // "unknown", or invalid: the proxy that reported this entry is the last known address.
    if (next === undefined) return address;
    address = next;
    if (!trusts(hop, address)) return address;
  }
  return address;
}

/**
 * Whether a machine is trusted to report the address that called it.
 * @param hop 0 for the other end of the connection, 1 for the address that it reports, and so on
 */
type Trusts = (hop: number, address: Address | undefined) => boolean;

const NUMBER = /^\d{1,3}$/;

/** The problems of `trustedProxies`. */
export function proxyProblems(trusted: unknown): string[] {
  const form = '`trustedProxies` is how many proxies there are (0 to 10), or a list such as ["10.0.0.0/8", "::1"]';
  if (trusted === undefined) return [];
  if (typeof trusted === "number") return Number.isInteger(trusted) && trusted >= 0 && trusted <= 10 ? [] : [form];
  if (!Array.isArray(trusted)) return [form];
  return trusted
    .filter((entry: unknown) => subnetOf(entry) === undefined)
    .map((entry: unknown) => `\`trustedProxies\`: "${String(entry)}" is neither an address nor a network (CIDR)`);
}

/** @param trusted checked options */
export function trustedProxies(trusted: number | readonly string[] = 0): Trusts {
  if (typeof trusted === "number") return (hop) => hop < trusted;
  const list = new BlockList();
  for (const entry of trusted) {
    const { address, bits } = subnetOf(entry) as Subnet;
    list.addSubnet(address.text, bits, address.family);
  }
  return (_hop, address) => address !== undefined && list.check(address.text, address.family);
}

interface Subnet {
  readonly address: Address;
  readonly bits: number;
}

function subnetOf(entry: unknown): Subnet | undefined {
  if (typeof entry !== "string") return undefined;
  const [text = "", bits, more] = entry.split("/");
  const address = readAddress(text);
  if (address === undefined || more !== undefined) return undefined;
  const most = address.family === "ipv4" ? 32 : 128;
  if (bits === undefined) return { address, bits: most };
  // A mapped IPv4 network counts its bits from the front of the IPv6 form; it must be written as IPv4 instead.
  if (!NUMBER.test(bits) || Number(bits) > most || (address.family === "ipv4" && text.includes(":"))) return undefined;
  return { address, bits: Number(bits) };
}

/** An internet address in canonical form. */
interface Address {
  readonly family: "ipv4" | "ipv6";
  readonly text: string;
  /**
   * The unit that shares a quota: the address, or the /64 network of an IPv6 address, which belongs to one customer.
   */
  readonly network: string;
}

/**
 * Reads an address without port and brackets; undefined for other texts. An IPv4 address in IPv6 form
 * (`::ffff:192.0.2.1`, as dual-stack sockets report it) becomes the IPv4 address.
 */
function readAddress(given: string): Address | undefined {
  if (isIPv4(given)) return { family: "ipv4", text: given, network: given };
  const zone = given.indexOf("%"); // names a network interface of this machine
  const text = zone === -1 ? given : given.slice(0, zone);
  if (!isIPv6(text)) return undefined;
  const groups = groupsOf(text);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return readAddress(dotted(groups));
  const hex = groups.map((group) => group.toString(16));
  return { family: "ipv6", text: hex.join(":"), network: `${hex.slice(0, 4).join(":")}::/64` };
}

/** The eight groups of an IPv6 address (RFC 4291 section 2.2). */
function groupsOf(text: string): number[] {
  const [head = "", tail] = text.split("::", 2).map((part) => part.split(":").flatMap(numbersOf));
  if (tail === undefined) return head as number[];
  return [...(head as number[]), ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function numbersOf(part: string): number[] {
  if (part === "") return [];
  if (!part.includes(".")) return [Number.parseInt(part, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}

function dotted(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");
}
