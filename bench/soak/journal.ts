/** A record as the last acknowledged write left it. */
export interface Written {
  readonly id: string;
  title: string;
  size: number;
  done: boolean;
  version: number;
}

/** A row of the database at the end. */
export interface FinalRow {
  readonly id: string;
  readonly title: string;
  readonly size: number;
  readonly done: boolean;
  readonly version: number;
}

/** What the server has acknowledged. */
export interface Journal {
  /** How many writes were acknowledged. */
  acknowledged(): number;
  created(record: Written): void;
  /** Call after the record was changed to what was acknowledged. */
  changed(): void;
  deleted(id: string): void;
  /** A change of a counter that succeeded. */
  counted(id: string): void;
  /** Nobody knows what became of a write whose client went away; records with such titles may be there or not. */
  abandoned(title: string): void;
  /** What of it is not in the database, or otherwise, in words; nothing when all is. */
  compare(rows: readonly FinalRow[], counters: ReadonlyMap<string, number>): string[];
}

export function createJournal(): Journal {
  const live = new Map<string, Written>();
  const gone = new Set<string>();
  const counts = new Map<string, number>();
  const unknown = new Set<string>();
  let acknowledged = 0;
  return {
    acknowledged: () => acknowledged,
    created(record) {
      acknowledged += 1;
      live.set(record.id, record);
    },
    changed: () => void (acknowledged += 1),
    deleted(id) {
      acknowledged += 1;
      live.delete(id);
      gone.add(id);
    },
    counted(id) {
      acknowledged += 1;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    },
    abandoned: (title) => void unknown.add(title),
    compare(rows, counters) {
      const lost: string[] = [];
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const row of rows) {
        if (gone.has(row.id)) lost.push(`${row.id} was deleted, and is there`);
        else if (!live.has(row.id) && !unknown.has(row.title)) lost.push(`${row.id} was written by nobody`);
      }
      for (const record of live.values()) {
        const row = found.get(record.id);
        if (row === undefined) {
          lost.push(`${record.id} was created, and is not there`);
          continue;
        }
        for (const name of ["title", "size", "done", "version"] as const)
          if (row[name] !== record[name]) lost.push(`${name} of ${record.id} is ${row[name]}, not ${record[name]}`);
      }
      for (const [id, count] of counts)
        if (counters.get(id) !== count) lost.push(`${id} is ${counters.get(id)} after ${count} changes`);
      return lost;
    },
  };
}
