import { ConfigurationError } from "../../../entity/index.ts";

type Imports = Readonly<Record<string, () => Promise<unknown>>>;
type Loaded<T extends Imports> = { readonly [K in keyof T]: Awaited<ReturnType<T[K]>> };

/** `@scope/name` of `@scope/name/some/file`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function isMissing(reason: unknown, name: string): boolean {
  const { code, message } = reason as { readonly code?: unknown; readonly message?: unknown };
  return (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && String(message).includes(`${name}'`);
}

/**
 * Loads optional packages, all at once.
 * @param feature What needs them, for the message
 * @param imports How each is imported, by specifier
 * @throws ConfigurationError naming all that are not installed, with the command that installs them
 */
export async function loadPeers<T extends Imports>(feature: string, imports: T): Promise<Loaded<T>> {
  const specifiers = Object.keys(imports);
  const results = await Promise.allSettled(specifiers.map((specifier) => (imports[specifier] as () => unknown)()));
  const missing = new Set<string>();
  const broken: string[] = [];
  const loaded: Record<string, unknown> = {};
  results.forEach((result, index) => {
    const specifier = specifiers[index] as string;
    const name = packageOf(specifier);
    if (result.status === "fulfilled") loaded[specifier] = result.value;
    else if (isMissing(result.reason, name)) missing.add(name);
    else broken.push(`${feature} cannot load "${name}": ${(result.reason as Error).message}`);
  });
  if (missing.size > 0) {
    const names = [...missing];
    const quoted = names.map((name) => `"${name}"`).join(", ");
    throw new ConfigurationError(`${feature} needs ${quoted}. Run: npm i ${names.join(" ")}`);
  }
  if (broken.length > 0) throw new ConfigurationError(broken);
  return loaded as Loaded<T>;
}
