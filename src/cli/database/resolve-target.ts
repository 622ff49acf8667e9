import type { ArgsDef } from "citty";
import type { MigrationTarget } from "../../drivers/prisma/index.ts";
import { ConfigurationError } from "../../entity/index.ts";
import type { Project } from "../project/load-project.ts";
import { CONFIG_ARGUMENT } from "../shell/command.ts";

type Provider = MigrationTarget["provider"];

/** The default location of `embedded()`. */
const DEFAULT_URL = "file:.keelson/app.db";

const PROVIDERS: Readonly<Record<string, Provider>> = {
  "file:": "sqlite",
  "postgres:": "postgresql",
  "postgresql:": "postgresql",
  "mysql:": "mysql",
  "mariadb:": "mysql",
};

/** The providers of drivers with a fixed one. */
const DRIVERS: Readonly<Record<string, Provider>> = { embedded: "sqlite", postgres: "postgresql" };

/** The provider of a project's driver, if the driver reports it. */
export function providerOf({ config: { driver } }: Project): Provider | undefined {
  return driver === undefined ? "sqlite" : DRIVERS[driver.name];
}

/** @throws ConfigurationError when the address is not of a database with migrations */
function targetOf(url: string, source: string): MigrationTarget {
  const provider = PROVIDERS[/^[a-z]+:/.exec(url)?.[0] ?? ""];
  // The message omits the address, which may contain a password.
  if (provider === undefined) throw new ConfigurationError(`${source} must begin with file:, postgresql: or mysql:`);
  return { provider, url };
}

/**
 * The database that commands change. A driver does not report its address, which may contain a password, so it must be
 * passed again, and match the driver's kind. A project without a driver uses the embedded default and ignores
 * DATABASE_URL.
 * @param given the value of `--url`
 * @throws ConfigurationError when the address is unknown, or of another kind than the driver
 */
export function resolveTarget(project: Project, given: string | undefined): MigrationTarget {
  if (given !== undefined) return targetOf(given, "--url");
  const { driver } = project.config;
  if (driver === undefined) return { provider: "sqlite", url: DEFAULT_URL };
  const url = process.env.DATABASE_URL;
  if (url === undefined || url === "")
    throw new ConfigurationError(
      `The driver "${driver.name}" does not report its database address. Set DATABASE_URL, or pass --url=<address>`,
    );
  const target = targetOf(url, "DATABASE_URL");
  const provider = providerOf(project);
  if (provider !== undefined && provider !== target.provider)
    throw new ConfigurationError(
      `DATABASE_URL is the address of a ${target.provider} database, and the driver is "${driver.name}". Pass --url=<address>`,
    );
  return target;
}

/** Arguments of every command that compares or changes a database. */
export const DATABASE_ARGUMENTS = {
  ...CONFIG_ARGUMENT,
  url: {
    type: "string",
    description: "The database. Default: DATABASE_URL; without a driver .keelson/app.db",
    valueHint: "address",
  },
} as const satisfies ArgsDef;
