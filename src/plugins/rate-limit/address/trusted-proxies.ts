import { BlockList } from "node:net";
import { type Address, readAddress } from "./read-address.ts";

/**
 * Whether what a machine says about the one before it is believed.
 * @param hop 0 for the other end of the connection, 1 for the one that it names, and so on
 */
export type Trusts = (hop: number, address: Address | undefined) => boolean;

const NUMBER = /^\d{1,3}$/;

/** What is wrong with `trustedProxies`. */
export function proxyProblems(trusted: unknown): string[] {
  const form = '`trustedProxies` is how many proxies there are (0 to 10), or a list such as ["10.0.0.0/8", "::1"]';
  if (trusted === undefined) return [];
  if (typeof trusted === "number") return Number.isInteger(trusted) && trusted >= 0 && trusted <= 10 ? [] : [form];
  if (!Array.isArray(trusted)) return [form];
  return trusted
    .filter((entry: unknown) => subnetOf(entry) === undefined)
    .map((entry: unknown) => `\`trustedProxies\`: "${String(entry)}" is no address and no network (CIDR)`);
}

/** @param trusted without problems */
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
  // A mapped network counts its bits from the front of the IPv6 form, and is better written as what it is.
  if (!NUMBER.test(bits) || Number(bits) > most || (address.family === "ipv4" && text.includes(":"))) return undefined;
  return { address, bits: Number(bits) };
}
