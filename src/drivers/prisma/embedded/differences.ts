// The schema engine describes differences in an outline:
//   [+] Added tables            [*] Changed the `post` table
//     - post                      [+] Added column `title`

const CHANGES: Readonly<Record<string, (what: string) => string>> = {
  "+": (what) => `lacks ${what.replace(/^Added (the )?/, "")}`,
  "-": (what) => `has ${what.replace(/^(Removed|Dropped) (the )?/, "")}, which no entity describes`,
  "*": (what) => `differs: ${what.replace(/^Altered /, "")}`,
};

/** Names of defaults are printed as Rust prints them. */
function plain(text: string): string {
  return text.replace(/ \(default changed from .*\)$/, " (default)").replace(/`([^`]*)`/g, '"$1"');
}

/**
 * One sentence per difference between the tables and the definitions.
 * @param outline What the engine printed; empty when there are no differences
 */
export function sentencesOf(outline: string): readonly string[] {
  const sentences: string[] = [];
  /** Tables that are only on one side; what they consist of is nothing more to say. */
  const whole = new Set<string>();
  let heading: { readonly sign: string; readonly text: string } | undefined;
  for (const line of outline.split("\n")) {
    const item = /^ +- (.*)$/.exec(line)?.[1];
    const change = /^( *)\[([+*-])\] (.*)$/.exec(line);
    if (item !== undefined && heading !== undefined) {
      const what = heading.text.replace(/^(Added|Removed) /, "").replace(/s$/, "");
      sentences.push(`${what} "${item}" ${heading.sign === "+" ? "is missing" : "is described by no entity"}`);
      whole.add(item);
    } else if (change?.[1] === "") {
      heading = { sign: change[2] as string, text: change[3] as string };
      const redefined = /^Redefined table `(.*)`$/.exec(heading.text)?.[1];
      if (redefined !== undefined) sentences.push(`table "${redefined}" differs from its entity`);
    } else if (change !== null && heading !== undefined) {
      const table = /`(.*)`/.exec(heading.text)?.[1] ?? "";
      const describe = CHANGES[change[2] as string] as (what: string) => string;
      if (!whole.has(table)) sentences.push(`table "${table}" ${plain(describe(change[3] as string))}`);
    }
  }
  return sentences;
}
