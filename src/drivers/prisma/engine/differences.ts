// The schema engine describes differences in an outline:
//   [+] Added tables            [*] Changed the `post` table
//     - post                      [+] Added column `title`

export type Sign = "+" | "-" | "*";

/** A line of the outline, with its heading or table. */
export type Difference =
  | { readonly of: "whole"; readonly sign: Sign; readonly what: string; readonly name: string }
  | { readonly of: "redefined"; readonly table: string }
  | { readonly of: "part"; readonly sign: Sign; readonly table: string; readonly text: string };

/**
 * Parses an outline, without the contents of tables that exist only on one side.
 * @param outline the engine's output; empty when there are no differences
 */
export function readOutline(outline: string): readonly Difference[] {
  const differences: Difference[] = [];
  const whole = new Set<string>();
  let heading: { readonly sign: Sign; readonly text: string } | undefined;
  for (const line of outline.split("\n")) {
    const item = /^ +- (.*)$/.exec(line)?.[1];
    const change = /^( *)\[([+*-])\] (.*)$/.exec(line) as unknown as [string, string, Sign, string] | null;
    if (item !== undefined && heading !== undefined) {
      const what = heading.text.replace(/^(Added|Removed) /, "").replace(/s$/, "");
      differences.push({ of: "whole", sign: heading.sign, what, name: item });
      whole.add(item);
    } else if (change?.[1] === "") {
      heading = { sign: change[2], text: change[3] };
      const table = /^Redefined table `(.*)`$/.exec(heading.text)?.[1];
      if (table !== undefined) differences.push({ of: "redefined", table });
    } else if (change !== null && heading !== undefined) {
      const table = /`(.*)`/.exec(heading.text)?.[1] ?? "";
      if (!whole.has(table)) differences.push({ of: "part", sign: change[2], table, text: change[3] });
    }
  }
  return differences;
}

/** One sentence per difference between the tables and the definitions. */
export function sentencesOf(outline: string): readonly string[] {
  return readOutline(outline).map((difference) => {
    if (difference.of === "redefined") return `table "${difference.table}" differs from its entity`;
    if (difference.of === "part")
      return `table "${difference.table}" ${plain(CHANGES[difference.sign](difference.text))}`;
    const { what, name, sign } = difference;
    return `${what} "${name}" ${sign === "+" ? "is missing" : "is not described by an entity"}`;
  });
}

const CHANGES: Readonly<Record<Sign, (what: string) => string>> = {
  "+": (what) => `lacks ${what.replace(/^Added (the )?/, "")}`,
  "-": (what) => `has ${what.replace(/^(Removed|Dropped) (the )?/, "")}, which no entity describes`,
  "*": (what) => `differs: ${what.replace(/^Altered /, "")}`,
};

/** Shortens changed defaults, which are in Rust's debug format, and replaces backticks by quotes. */
function plain(text: string): string {
  return text.replace(/ \(default changed from .*\)$/, " (default)").replace(/`([^`]*)`/g, '"$1"');
}
