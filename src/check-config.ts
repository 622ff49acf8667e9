import { ConfigurationError, isObject } from "./entity/index.ts";
import { didYouMean } from "./kernel/index.ts";

const FUNCTIONS = ["getUser", "isAdmin"] as const;
const OBJECTS = ["services", "defaultRules", "limits", "encryption", "remoteJoins", "logger", "clock", "ids"] as const;
const DRIVER_METHODS = ["connect", "execute", "findOne", "update", "transaction"];
const KNOWN = [
  ...FUNCTIONS,
  ...OBJECTS,
  ...["entities", "driver", "apiPrefix", "plugins", "rules", "production", "trustedOrigins"],
];

function entityProblems(entities: unknown): string[] {
  if (!Array.isArray(entities)) return ["`entities` must be an array of entity definitions"];
  return entities.flatMap((entity: unknown, index) => {
    if (entity === undefined)
      return [`entities[${index}] is undefined; modules that import each other too early look like this`];
    return isObject(entity) && ("build" in entity || "columns" in entity)
      ? []
      : [`entities[${index}] is not an entity; make it with entity(name, fields)`];
  });
}

function driverProblems(driver: unknown): string[] {
  if (driver === undefined) return [];
  if (typeof driver === "function") return ["`driver` is a function; call it: memoryDriver()"];
  if (typeof driver === "string") return ["`driver` is a string; use postgres(url)"];
  if (!isObject(driver) || (driver.execute === undefined && driver.findOne === undefined))
    return ["`driver` is not a driver; use embedded(), postgres(url), prisma(client) or memoryDriver()"];
  if (DRIVER_METHODS.every((method) => typeof driver[method] === "function")) return [];
  return ["`driver` lacks methods of a driver: make one with defineDriver(port), and change one with withMiddleware()"];
}

/** The valid options, and the problems of the others. */
export interface CheckedConfig<C> {
  readonly config: C;
  readonly problems: readonly string[];
}

/**
 * Checks the types of a configuration's options. The compiler finds most problems, but not in JavaScript or with
 * circular imports. Invalid options are removed from the result, so that the others can be checked before all problems
 * are reported together.
 * @throws ConfigurationError when the configuration is not an object
 */
export function checkConfig<C>(given: C): CheckedConfig<C> {
  if (!isObject(given)) throw new ConfigurationError("keelson() takes an object: keelson({ entities: [...] })");
  const config: Record<string, unknown> = { ...given };
  const problems: string[] = [];
  const refuse = (name: string, ...sentences: readonly string[]): void => {
    if (sentences.length === 0) return;
    problems.push(...sentences);
    delete config[name];
  };
  const isGiven = (name: string): boolean => config[name] !== undefined;
  refuse("entities", ...entityProblems(config.entities));
  if (!isGiven("entities"))
    config.entities = Array.isArray(given.entities)
      ? given.entities.filter((entity: unknown) => entityProblems([entity]).length === 0)
      : [];
  refuse("driver", ...driverProblems(config.driver));
  for (const name of FUNCTIONS)
    if (isGiven(name) && typeof config[name] !== "function") refuse(name, `\`${name}\` must be a function`);
  for (const name of OBJECTS)
    if (isGiven(name) && !isObject(config[name])) refuse(name, `\`${name}\` must be an object`);
  const { apiPrefix, plugins, rules } = config;
  if (apiPrefix !== undefined && typeof apiPrefix !== "string")
    refuse("apiPrefix", "`apiPrefix` must be a string such as /api");
  if (plugins !== undefined && typeof plugins !== "function" && !Array.isArray(plugins))
    refuse("plugins", "`plugins` must be an array of plugins, or a function of the default ones");
  if (rules !== undefined && !Array.isArray(rules)) refuse("rules", "`rules` must be an array of rules");
  for (const name of Object.keys(config))
    if (!KNOWN.includes(name)) refuse(name, `there is no option "${name}".${didYouMean(name, KNOWN)}`);
  return { config: config as C, problems };
}
