import type { ArgsDef, ParsedArgs } from "citty";
import type { Output, Terminal } from "./output.ts";

/** 0: success; 1: failure or findings; 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** The input of a command. */
export interface CommandContext<T extends ArgsDef = ArgsDef> {
  readonly args: ParsedArgs<T>;
  readonly terminal: Terminal;
  readonly output: Output;
}

/** A command. */
export interface Command<T extends ArgsDef = ArgsDef> {
  /** A sentence without a full stop. */
  readonly description: string;
  /** Example command lines, without the leading `keelson`. */
  readonly examples: readonly string[];
  readonly args: T;
  /** Runs the command; "serving" means that a server has started, and the process ends when the server does. */
  run(context: CommandContext<T>): Promise<ExitCode | "serving">;
}

/** Defines a command whose arguments are typed by their declaration. */
export function defineCommand<const T extends ArgsDef>(command: Command<T>): Command {
  // `args` is parsed by the command's own declaration, so the narrower type is correct.
  return command as unknown as Command;
}

/** `--config`, for commands that read the configuration. */
export const CONFIG_ARGUMENT = {
  config: { type: "string", description: "The configuration's file", valueHint: "path" },
} as const satisfies ArgsDef;

/** `--json`, for commands whose output scripts read. */
export const JSON_ARGUMENT = {
  json: { type: "boolean", description: "Print JSON" },
} as const satisfies ArgsDef;

/** `--accept-data-loss`, for commands that may drop values. */
export const DATA_LOSS_ARGUMENT = {
  "accept-data-loss": { type: "boolean", description: "Allow changes that lose values" },
} as const satisfies ArgsDef;
