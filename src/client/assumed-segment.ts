/**
 * The path segment of an entity nobody told the client about: the regular English plural in kebab-case. The server knows
 * irregular ones too, and what `.plural()` says; those dictionaries are larger than this client.
 */
export function assumedSegment(name: string): string {
  const plural = /(?:[sxz]|[cs]h)$/i.test(name) ? `${name}es` : name.replace(/([^aeiou])y$/i, "$1ie").concat("s");
  return plural
    .replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .replace(/_/g, "-")
    .toLowerCase();
}
