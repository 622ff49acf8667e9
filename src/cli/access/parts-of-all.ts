/** The rules that `all(a,b)` combines, by its name; undefined for any other name. Brackets may be nested. */
export function partsOfAll(name: string): readonly string[] | undefined {
  const inner = /^all\((.*)\)$/s.exec(name)?.[1];
  if (inner === undefined) return undefined;
  const parts: string[] = [""];
  let depth = 0;
  for (const char of inner) {
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}
