import type { AnyEntity } from "../../../src/index.ts";
import { type CallerName, type Facts, mayRead, READERS, type Reader, type Readers } from "./truth.ts";

/** A unique value, and its owner. */
export interface Canary {
  readonly text: string;
  readonly entity: string;
  readonly field: string;
  readonly reader: Reader;
  readonly facts: Facts;
}

/** Matches canaries in every kind of field. */
const FORMS = /cnry[a-z0-9]{12}|(?<![\w-])77\d{7}(?![\w-])|2077-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** Matches stored forms of protected fields: hashes and ciphertext. No caller may see them. */
const STORED_FORMS = /\$(?:pbkdf2|scrypt)\$|(?<![\w.-])(?:new|old):[A-Za-z0-9+/]{38,}/;

/**
 * Creates canaries and finds them again.
 * @param readers the callers that may read each field
 */
export function createCanaries(readers: Readers = READERS) {
  const known = new Map<string, Canary>();

  /** Every part of a text that has the form of a canary. */
  const formsIn = (text: string): Set<string> => new Set(text.match(FORMS) ?? []);

  /** The canaries in a text. */
  function find(text: string): Canary[] {
    return [...formsIn(text)].map((found) => {
      const canary = known.get(found);
      if (canary === undefined) throw new TypeError(`"${found}" looks like a canary and is none`);
      return canary;
    });
  }

  return {
    find,
    formsIn,
    get all(): readonly Canary[] {
      return [...known.values()];
    },
    /** A valid value of the field that contains a canary. */
    valueFor(entity: AnyEntity, field: string, facts: Facts): unknown {
      const reader = readers[entity.name]?.[field];
      if (reader === undefined) throw new TypeError(`truth.ts does not say who may read ${entity.name}.${field}`);
      const { text, value } = newCanary(entity.fields[field]?.kind.name ?? "", known.size);
      known.set(text, { text, entity: entity.name, field, reader, facts });
      return value;
    },
    /** Describes what a text shows that this caller may not see; with `null`, every protected value. */
    leaksIn(text: string, caller: CallerName | null): string[] {
      const leaks = find(text)
        .filter(({ reader, facts }) => caller === null || !mayRead(caller, reader, facts))
        .map(({ entity, field, facts }) => `${entity}.${field} of ${JSON.stringify(facts)}`);
      const stored = STORED_FORMS.exec(text);
      return stored === null ? leaks : [...leaks, `what is stored: ${stored[0].slice(0, 20)}`];
    },
  };
}

export type Canaries = ReturnType<typeof createCanaries>;

/** Fields of an entity that have canaries: all fields in truth.ts. */
export function protectedFields(entity: AnyEntity): string[] {
  return Object.keys(READERS[entity.name] ?? {});
}

function newCanary(kind: string, count: number): { readonly text: string; readonly value: unknown } {
  switch (kind) {
    case "int":
      return { text: String(770_000_000 + count), value: 770_000_000 + count };
    case "datetime": {
      const value = new Date(Date.UTC(2077, 0, 1) + count * 1_001);
      return { text: value.toISOString(), value };
    }
    default: {
      const text = `cnry${count.toString(36).padStart(4, "0")}${crypto.randomUUID().slice(0, 8)}`;
      return { text, value: kind === "json" ? { deep: [{ down: text }] } : text };
    }
  }
}
