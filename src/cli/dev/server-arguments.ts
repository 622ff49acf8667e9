import type { ArgsDef } from "citty";
import { CONFIG_ARGUMENT } from "../shell/shared-arguments.ts";

/** Arguments of the commands that serve. */
export const SERVER_ARGUMENTS = {
  entry: {
    type: "positional",
    description: "A server of your own to run instead, such as src/server.ts",
    required: false,
  },
  ...CONFIG_ARGUMENT,
  port: { type: "string", description: "0 takes any free one. Default: PORT, or 3000", valueHint: "number" },
  host: { type: "string", description: "Address to listen on. Default: all of the machine's", valueHint: "address" },
} as const satisfies ArgsDef;
