import type { AnyEntity } from "../../../entity/index.ts";
import { type RecordUse, ShownRecords } from "../../../gate/index.ts";

/** Notes as plain data, with names of entities. */
export interface KeptNotes {
  readonly isKnown: boolean;
  readonly records: Readonly<Record<string, readonly string[]>>;
  readonly counted: readonly string[];
  readonly detailed: readonly string[];
  readonly uses: readonly (Omit<RecordUse, "entity"> & { readonly entity: string })[];
  /** The caller's rights, as the service that notes them keeps them. */
  readonly rights?: unknown;
}

/** Maximum number of characters of notes beside an error. */
const MOST_OF_NOTES = 65_536;
const UNKNOWN: KeptNotes = { isKnown: false, records: {}, counted: [], detailed: [], uses: [] };

/** Notes of limited length; longer ones are replaced by notes that no caller passes. @param most characters of JSON */
export function boundedNotes(notes: ShownRecords, most = MOST_OF_NOTES): KeptNotes {
  const kept = keptNotes(notes);
  return JSON.stringify(kept).length > most ? UNKNOWN : kept;
}

function keptNotes({ isKnown, ids, counted, detailed, uses, rights }: ShownRecords): KeptNotes {
  const names = (entities: Iterable<AnyEntity>): string[] => Array.from(entities, ({ name }) => name);
  return {
    isKnown,
    records: Object.fromEntries(Array.from(ids, ([{ name }, own]) => [name, [...own]])),
    counted: names(counted),
    detailed: names(detailed),
    uses: uses.map((use) => ({ ...use, entity: use.entity.name })),
    rights,
  };
}

/** Notes from plain data. @param find finds an entity by its name */
export function restoredNotes(kept: KeptNotes, find: (name: string) => AnyEntity | undefined): ShownRecords {
  const notes = new ShownRecords();
  const found = (name: string): AnyEntity[] => {
    const entity = find(name);
    if (entity === undefined) notes.join(undefined);
    return entity === undefined ? [] : [entity];
  };
  if (!kept.isKnown) notes.join(undefined);
  for (const [name, ids] of Object.entries(kept.records))
    for (const entity of found(name)) {
      notes.noteEntity(entity);
      for (const id of ids) notes.note(entity, { id });
    }
  for (const name of kept.counted) for (const entity of found(name)) notes.noteCount(entity);
  for (const name of kept.detailed) for (const entity of found(name)) notes.detailed.add(entity);
  for (const use of kept.uses) for (const entity of found(use.entity)) notes.noteUses({ ...use, entity });
  notes.rights = kept.rights;
  return notes;
}
