/** The start of a table; a column that holds JSON, on a line of its own; a value for rows that have none in such a column. */
const PARTS =
  /^CREATE TABLE |^(.*"(\w+)" JSONB(?: NOT NULL)?)(?: DEFAULT (?!')(.+?))?([,;]*)$|coalesce\("(\w+)", (?!')(.+?)\) AS "\5"/gm;

function quoted(json: string): string {
  return `'${json.replaceAll("'", "''")}'`;
}

/**
 * Puts quotes around the JSON of defaults, which the schema engine forgets on SQLite: it takes braces for a mistake, and
 * `true` for 1. JSON has no line ends outside of its escapes.
 * @returns A function for statements in the order in which they are run: the columns of a table come before its rows
 */
export function jsonQuoter(): (sql: string) => string {
  const columns = new Set<string>();
  return (sql) =>
    sql.replace(PARTS, (part, ...groups: (string | undefined)[]) => {
      const [start, column, json, end = "", filled, value] = groups;
      if (column !== undefined) {
        columns.add(column);
        return json === undefined ? part : `${start} DEFAULT ${quoted(json)}${end}`;
      }
      if (filled === undefined) columns.clear();
      else if (columns.has(filled)) return `coalesce("${filled}", ${quoted(value as string)}) AS "${filled}"`;
      return part;
    });
}
