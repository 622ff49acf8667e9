/** Decodes one path segment; undefined when its escapes are broken or hide what a segment must not contain. */
export function decodeSegment(raw: string): string | undefined {
  let text = raw;
  if (raw.includes("%")) {
    try {
      text = decodeURIComponent(raw);
    } catch {
      return undefined;
    }
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text === "" || text === "." || text === ".." || /[\u0000-\u001f\u007f/\\]/.test(text) ? undefined : text;
}

/**
 * Matches a path against a pattern with `:name` parameters. A trailing slash is tolerated.
 * @returns the decoded parameters, or null when it does not match
 */
export function matchRoute(path: string, pattern: string): Record<string, string> | null {
  const have = path.replace(/\/$/, "").split("/");
  const want = pattern.replace(/\/$/, "").split("/");
  if (have.length !== want.length) return null;
  const params: Record<string, string> = {};
  for (let i = 0; i < want.length; i++) {
    const part = want[i] as string;
    const raw = have[i] as string;
    if (!part.startsWith(":")) {
      if (part !== raw) return null;
      continue;
    }
    const value = decodeSegment(raw);
    if (value === undefined) return null;
    params[part.slice(1)] = value;
  }
  return params;
}
