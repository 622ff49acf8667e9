import { ConfigurationError } from "./entity/index.ts";
import { didYouMean } from "./kernel/index.ts";

const FUNCTIONS = ["getUser", "isAdmin"] as const;
const OBJECTS = ["services", "defaultRules", "limits", "encryption", "remoteJoins", "logger", "clock", "ids"] as const;
const DRIVER_METHODS = ["connect", "findOne", "findMany", "create", "update", "delete", "transaction"];
const KNOWN = [...FUNCTIONS, ...OBJECTS, ...["entities", "driver", "apiPrefix", "plugins", "rules", "production"]];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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
  return isObject(driver) && DRIVER_METHODS.every((method) => typeof driver[method] === "function")
    ? []
    : ["`driver` is not a driver; use embedded(), postgres(url), prisma(client) or memoryDriver()"];
}

/**
 * What is wrong with the shape of a configuration. The compiler sees most of it; those who write JavaScript, or import
 * in circles, do not have it.
 * @throws ConfigurationError with all problems
 */
export function checkConfig(config: unknown): asserts config is Record<string, unknown> {
  if (!isObject(config)) throw new ConfigurationError("keelson() takes an object: keelson({ entities: [...] })");
  const problems = [...entityProblems(config.entities), ...driverProblems(config.driver)];
  for (const name of FUNCTIONS)
    if (config[name] !== undefined && typeof config[name] !== "function")
      problems.push(`\`${name}\` must be a function`);
  for (const name of OBJECTS)
    if (config[name] !== undefined && !isObject(config[name])) problems.push(`\`${name}\` must be an object`);
  const { apiPrefix, plugins, rules } = config;
  if (apiPrefix !== undefined && typeof apiPrefix !== "string")
    problems.push("`apiPrefix` must be a string such as /api");
  if (plugins !== undefined && typeof plugins !== "function" && !Array.isArray(plugins))
    problems.push("`plugins` must be an array of plugins, or a function of the default ones");
  if (rules !== undefined && !Array.isArray(rules)) problems.push("`rules` must be an array of rules");
  for (const name of Object.keys(config))
    if (!KNOWN.includes(name)) problems.push(`there is no option "${name}".${didYouMean(name, KNOWN)}`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}
