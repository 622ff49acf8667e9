import { ConfigurationError, isKeelsonError } from "../../../entity/index.ts";
import { PrismaFailure, toKeelsonError } from "../../sql/index.ts";

type Imports = Readonly<Record<string, () => Promise<unknown>>>;
type Loaded<T extends Imports> = { readonly [K in keyof T]: Awaited<ReturnType<T[K]>> };

/**
 * Used as `import(…).catch(absent)` for optional packages: bundlers accept a missing package only if its absence is
 * handled.
 */
export function absent(reason: unknown): never {
  throw reason;
}

/**
 * Loads optional packages concurrently.
 * @param feature the feature that needs them, for the message
 * @param imports the import functions, by specifier
 * @throws ConfigurationError naming all packages that are not installed, with the command that installs them
 */
export async function loadPeers<T extends Imports>(feature: string, imports: T): Promise<Loaded<T>> {
  const specifiers = Object.keys(imports);
  const results = await Promise.allSettled(specifiers.map((specifier) => (imports[specifier] as () => unknown)()));
  const missing = new Set<string>();
  const broken: string[] = [];
  const loaded: Record<string, unknown> = {};
  results.forEach((result, index) => {
    const specifier = specifiers[index] as string;
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    if (result.status === "fulfilled") loaded[specifier] = result.value;
    else if (isMissing(result.reason, name)) missing.add(name);
    else broken.push(`${feature} cannot load "${name}": ${(result.reason as Error).message}`);
  });
  if (missing.size > 0) {
    const quoted = [...missing].map((name) => `"${name}"`).join(", ");
    throw new ConfigurationError(`${feature} needs ${quoted}. Run: npm i ${[...missing].join(" ")}`);
  }
  if (broken.length > 0) throw new ConfigurationError(broken);
  return loaded as Loaded<T>;
}

function isMissing(reason: unknown, name: string): boolean {
  const { code, message } = reason as { readonly code?: unknown; readonly message?: unknown };
  return (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && String(message).includes(`${name}'`);
}

/** Connection problems that the developer must fix; Prisma's codes and PostgreSQL's. */
const REFUSALS: Readonly<Record<string, string>> = {
  P1000: "the database server refuses the user or the password",
  P1003: "the database server has no such database; create it first",
  P1010: "the database server denies this user access to the database",
  "28000": "the database server refuses the user or the password",
  "28P01": "the database server refuses the user or the password",
  "3D000": "the database server has no such database; create it first",
  P1011: "the connection to the database server cannot be encrypted as asked",
};

/** The error for a database that could not be opened. @param feature the name of the driver, for the message */
export function openingError(feature: string, error: unknown): Error {
  const failure = new PrismaFailure(error, { operation: "connect" });
  const refusal = REFUSALS[failure.code];
  if (refusal !== undefined)
    return new ConfigurationError(`${feature}: ${refusal} (${failure.code})`, { cause: failure });
  if (failure.remedy !== undefined) return new ConfigurationError(`${feature}: ${failure.remedy}`, { cause: failure });
  return toKeelsonError(error, { operation: "connect" });
}

/** The driver for an address, by its scheme. */
const SERVED_BY: readonly (readonly [schemes: RegExp, driver: string])[] = [
  [/^file:/, "embedded({ file }), with the path alone"],
  [/^postgres(ql)?:/, "postgres(url)"],
  [/^(libsql|https?|wss?):/, "prisma(new PrismaClient({ adapter })) with the adapter @prisma/adapter-libsql"],
  [/^(mysql|mariadb):/, "prisma(new PrismaClient({ adapter })) with the adapter @prisma/adapter-mariadb"],
];

/**
 * Refuses an address of another driver.
 * @param driver the driver call, as written in code
 * @param own the schemes that the driver accepts
 * @throws ConfigurationError that names the right driver, but not the address, which may contain a password
 */
export function refuseWrongAddress(driver: string, address: string, own: RegExp): void {
  // A single letter is a Windows drive.
  const scheme = /^[a-z][a-z0-9+.-]+:/i.exec(address)?.[0].toLowerCase();
  if (scheme === undefined || own.test(scheme)) return;
  const served = SERVED_BY.find(([schemes]) => schemes.test(scheme))?.[1] ?? "prisma(client)";
  throw new ConfigurationError(`${driver} takes no address that begins with "${scheme}"; use ${served}`);
}

/** Opens a resource for work and always closes it. @param explain converts errors to Keelson errors */
export async function withOpened<R extends { close(): Promise<void> }, T>(
  open: () => Promise<R>,
  work: (opened: R) => Promise<T>,
  explain: (error: unknown) => Error,
): Promise<T> {
  let opened: R | undefined;
  try {
    opened = await open();
    return await work(opened);
  } catch (error) {
    throw isKeelsonError(error) ? error : explain(error);
  } finally {
    await opened?.close();
  }
}
