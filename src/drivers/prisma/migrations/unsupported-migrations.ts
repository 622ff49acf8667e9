import { ConfigurationError } from "../../../entity/index.ts";
import type { Migrations } from "./migrations.ts";

function refuse(command: string): () => Promise<never> {
  return async () => {
    throw new ConfigurationError(
      `MySQL and MariaDB are migrated by Prisma's own command, which downloads its engine; write the schema with "keelson generate", then run: npx prisma ${command}`,
    );
  };
}

/** For MySQL, which Prisma's schema engine in WebAssembly does not know: each method names the command to run instead. */
export const UNSUPPORTED_MIGRATIONS: Migrations = Object.freeze({
  diff: refuse("migrate diff"),
  status: refuse("migrate status"),
  push: refuse("db push"),
  create: refuse("migrate dev"),
  deploy: refuse("migrate deploy"),
  resolve: refuse("migrate resolve"),
  close: async () => {},
});
