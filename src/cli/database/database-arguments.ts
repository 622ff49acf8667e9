import type { ArgsDef } from "citty";
import { CONFIG_ARGUMENT } from "../shell/shared-arguments.ts";

/** Arguments of every command that compares or changes a database. */
export const DATABASE_ARGUMENTS = {
  ...CONFIG_ARGUMENT,
  url: {
    type: "string",
    description: "The database. Default: DATABASE_URL; without a driver .keelson/app.db",
    valueHint: "address",
  },
} as const satisfies ArgsDef;
