import type { NamedQuery } from "../sql/statement-cache.ts";

/** The name that a statement has: PostgreSQL parses and plans a named statement once per connection. */
export function statementName(query: object): string | undefined {
  return (query as Partial<NamedQuery>).statementName;
}
