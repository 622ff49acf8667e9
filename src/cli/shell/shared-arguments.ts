import type { ArgsDef } from "citty";

/** `--config`, of every command that reads the configuration. */
export const CONFIG_ARGUMENT = {
  config: { type: "string", description: "The configuration's file", valueHint: "path" },
} as const satisfies ArgsDef;

/** `--json`, of every command that a script would read. */
export const JSON_ARGUMENT = {
  json: { type: "boolean", description: "Print JSON" },
} as const satisfies ArgsDef;

/** `--accept-data-loss`, of every command that could drop values. */
export const DATA_LOSS_ARGUMENT = {
  "accept-data-loss": { type: "boolean", description: "Allow changes that lose values" },
} as const satisfies ArgsDef;
