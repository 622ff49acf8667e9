import { didYouMean, isValidEntityName } from "../../../kernel/index.ts";
import { headerNameProblem, headersProblem } from "./header-problem.ts";
import type { HttpServiceOptions } from "./http-service-options.ts";

const KNOWN = ["baseUrl", "paths", "headers", "forward", "timeout", "maxBytes", "shared"];

/** The longest a timer can wait; beyond it, it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
const RANGES = { timeout: [1, LONGEST_MS], maxBytes: [1, Number.MAX_SAFE_INTEGER] } as const;

/** What is wrong with the options. One that is misspelt would limit or protect nothing, so it is wrong, too. */
export function checkOptions(options: HttpServiceOptions): string[] {
  const problems = [...baseProblems(options), ...headerProblems(options)];
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[name as keyof typeof RANGES];
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      problems.push(`\`${name}\` must be a whole number from ${least} to ${most}`);
  }
  for (const name of Object.keys(options))
    if (!KNOWN.includes(name)) problems.push(`there is no option "${name}".${didYouMean(name, KNOWN)}`);
  return problems;
}

function baseProblems({ baseUrl, paths = {} }: HttpServiceOptions): string[] {
  const text = String(baseUrl);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    return ["`baseUrl` must be an address such as https://billing.example/api"];
  // The address is part of messages, which a password must not be; and paths and ids are put at its end.
  if (url.username !== "" || url.password !== "")
    return ["`baseUrl` must be without user name and password; send them with `headers`"];
  if (/[?#]/.test(text)) return ["`baseUrl` must be without query and fragment"];
  return Object.entries(paths).flatMap(([name, path]) => pathProblems(url.origin, name, path));
}

function pathProblems(origin: string, name: string, path: unknown): string[] {
  if (!isValidEntityName(name)) return [`\`paths\`: "${name}" is no name of an entity`];
  const rest = typeof path === "string" ? path.replace(/^\//, "") : "";
  // What the parser of addresses would change, it would lead elsewhere: `..`, spaces, backslashes.
  const kept = URL.canParse(`${origin}/${rest}`) && new URL(`${origin}/${rest}`).href === `${origin}/${rest}`;
  if (rest !== "" && kept && !/[?#]|\/\/|\/$|^\//.test(rest)) return [];
  return [`\`paths.${name}\` must be a path below \`baseUrl\` such as "/subscriptions"`];
}

function headerProblems({ headers = {}, forward = [], shared }: HttpServiceOptions): string[] {
  const problem = typeof headers === "function" ? undefined : headersProblem(headers);
  if (problem !== undefined) return [`\`headers\`: ${problem}`];
  if (!Array.isArray(forward)) return ['`forward` must be a list of header names such as ["authorization"]'];
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const problems = forward.flatMap((name: unknown) => {
    const reason = headerNameProblem(name);
    if (reason !== undefined) return [`\`forward\`: "${String(name)}" ${reason}`];
    const twice = own.has(String(name).toLowerCase());
    return twice ? [`"${String(name)}" is in \`headers\` and in \`forward\`; it is this app's or the caller's`] : [];
  });
  // What one caller was given would be given to the next one.
  if (forward.length > 0 && shared !== undefined && shared !== false)
    problems.push("`forward` and `shared` exclude each other: answers to one caller are not for others");
  return problems;
}
