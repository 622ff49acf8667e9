import { ConfigurationError } from "../../entity/index.ts";

/**
 * Prisma's value for “no value” in a JSON column, where `null` would be stored as a JSON value. Generated clients take it
 * from the same place; Prisma recognises it by a shared symbol, so another copy of the package is as good.
 */
export async function importDbNull(): Promise<unknown> {
  try {
    return (await import("@prisma/client/runtime/client")).DbNull;
  } catch (cause) {
    throw new ConfigurationError('json fields need "@prisma/client". Run: npm i @prisma/client', { cause });
  }
}
