import { isIPv4, isIPv6 } from "node:net";

/** An address of the internet in its one canonical form. */
export interface Address {
  readonly family: "ipv4" | "ipv6";
  readonly text: string;
  /** Whose requests count together: the address, or the /64 of an IPv6 one, all of which one customer has. */
  readonly network: string;
}

/**
 * Reads an address, without port and brackets; undefined for anything else. An IPv4 address in the form of an IPv6 one
 * (`::ffff:192.0.2.1`, as dual-stack sockets have it) is the IPv4 address.
 */
export function readAddress(given: string): Address | undefined {
  if (isIPv4(given)) return { family: "ipv4", text: given, network: given };
  const zone = given.indexOf("%"); // names an interface of this machine
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
