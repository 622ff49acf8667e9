import { ConfigurationError } from "../../../entity/index.ts";

/** What serves an address, by the scheme it begins with. */
const SERVED_BY: readonly (readonly [schemes: RegExp, driver: string])[] = [
  [/^file:/, "embedded({ file }), with the path alone"],
  [/^postgres(ql)?:/, "postgres(url)"],
  [/^(libsql|https?|wss?):/, "prisma(new PrismaClient({ adapter })) with the adapter @prisma/adapter-libsql"],
  [/^(mysql|mariadb):/, "prisma(new PrismaClient({ adapter })) with the adapter @prisma/adapter-mariadb"],
];

/**
 * Refuses an address that another driver is for.
 * @param driver What it was given to, as it is written
 * @param own Schemes that it takes
 * @throws ConfigurationError that names the right driver, without the address, which may hold a password
 */
export function refuseWrongAddress(driver: string, address: string, own: RegExp): void {
  // One letter is a disk of Windows.
  const scheme = /^[a-z][a-z0-9+.-]+:/i.exec(address)?.[0].toLowerCase();
  if (scheme === undefined || own.test(scheme)) return;
  const served = SERVED_BY.find(([schemes]) => schemes.test(scheme))?.[1] ?? "prisma(client)";
  throw new ConfigurationError(`${driver} takes no address that begins with "${scheme}"; use ${served}`);
}
