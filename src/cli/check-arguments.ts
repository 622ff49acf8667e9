import type { ArgDef, ArgsDef } from "citty";
import { suggest } from "./suggest.ts";

/**
 * What is wrong with the arguments of a command, as a sentence; undefined when nothing is. The parser itself ignores what
 * it does not know, and a misspelled `--acept-data-loss` has to be heard of.
 */
export async function checkArguments(given: readonly string[], args: ArgsDef): Promise<string | undefined> {
  const options = Object.entries(args).filter(([, { type }]) => type !== "positional");
  const positionals = Object.entries(args).filter(([, { type }]) => type === "positional");
  const seen = new Set<string>();
  for (let i = 0; i < given.length; i++) {
    const argument = given[i] as string;
    if (!argument.startsWith("-")) {
      const next = positionals.find(([name]) => !seen.has(name));
      if (next === undefined) return `"${argument}" is one argument too many.`;
      seen.add(next[0]);
      continue;
    }
    const [flag = "", value] = argument.split(/=(.*)/s);
    const [name, definition] = options.find(([one, { type }]) => isFlagOf(flag, one, type)) ?? [];
    if (name === undefined || definition === undefined) {
      const known = [...options.map(([one]) => `--${one}`), "--help"];
      return `There is no option "${flag}".${await suggest(flag, known)}`;
    }
    seen.add(name);
    if (definition.type === "boolean") {
      // The parser takes any other word for a yes, `--accept-data-loss=no` too.
      if (value === undefined || (flag === `--${name}` && /^(true|false)$/.test(value))) continue;
      return `"${flag}" takes no value; leave out "=${value}".`;
    }
    const next = value ?? given[++i];
    if (next === undefined || next === "" || (value === undefined && next.startsWith("-")))
      return `"${flag}" needs a value: ${usageOf([name, definition])}.`;
    const { options: choices } = definition as { readonly options?: readonly string[] };
    if (choices !== undefined && !choices.includes(next))
      return `"${flag}" is one of ${choices.join(", ")}, not "${next}".${await suggest(next, choices)}`;
  }
  const missing = [...positionals, ...options].filter(([name, { required }]) => required === true && !seen.has(name));
  return missing.length === 0 ? undefined : `It needs ${missing.map(usageOf).join(" ")}.`;
}

function isFlagOf(flag: string, name: string, type: ArgDef["type"]): boolean {
  return flag === `--${name}` || (type === "boolean" && flag === `--no-${name}`);
}

function usageOf([name, { type, valueHint }]: readonly [string, ArgDef]): string {
  return type === "positional" ? `<${name}>` : `--${name}=<${valueHint ?? name}>`;
}
