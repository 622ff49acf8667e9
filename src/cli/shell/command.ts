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

/** One command, as its help and its caller see it. */
export interface Command<T extends ArgsDef = ArgsDef> {
  /** A sentence without a full stop. */
  readonly description: string;
  /** Command lines to paste, without the leading `keelson`. */
  readonly examples: readonly string[];
  readonly args: T;
  /** "serving": a server has started, and the process ends when that does. */
  run(context: CommandContext<T>): Promise<ExitCode | "serving">;
}

/** A command whose arguments are typed by their declaration. */
export function defineCommand<const T extends ArgsDef>(command: Command<T>): Command {
  // The input of `run` was parsed by its own `args`, so the narrower type holds.
  return command as unknown as Command;
}

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
