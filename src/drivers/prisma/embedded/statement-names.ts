/** Prepared statements stay in the memory of each connection of the server, so they are not for every text. */
const MAX_NAMES = 500;

/**
 * Names for prepared statements: PostgreSQL parses and plans a named statement once per connection. Texts beyond the
 * first few hundred stay unnamed; they are the rare ones.
 */
export function statementNames(): (query: { readonly sql: string }) => string | undefined {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined || names.size >= MAX_NAMES) return known;
    const name = `keelson_${names.size}`;
    names.set(sql, name);
    return name;
  };
}
