/** The longest value of the header. Clients and proxies refuse responses with long headers. */
const MAX_LENGTH = 4_000;

/** The header that names ignored fields, each once. It ends with `...` if there are more than fit in. */
export function ignoredHeader(ignored: Iterable<string>): Record<string, string> {
  let text = [...new Set(ignored)].join(", ");
  if (text.length > MAX_LENGTH) text = `${text.slice(0, text.lastIndexOf(", ", MAX_LENGTH))}, ...`;
  return text === "" ? {} : { "x-ignored-fields": text };
}
