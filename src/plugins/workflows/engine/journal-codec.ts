import { isDeepStrictEqual } from "node:util";
import type { AnyEntity, EntityModel, FieldDefinition } from "../../../entity/index.ts";
import { entityOfRecord, knownOf, type Row, type ShownRecords, tagRecord } from "../../../gate/index.ts";
import { ResultNotKept } from "../saga/attempt.ts";
import { boundedNotes, type KeptNotes, restoredNotes } from "./kept-notes.ts";

/** Encodes values as texts of a journal, and decodes them. */
export interface Codec {
  /**
   * @throws ResultNotKept for functions, symbols, circular values and objects whose content is not in their members;
   * for values of more than 2 MiB; and for more than 32 MiB in one run
   */
  encode(value: unknown, shown?: ShownRecords): string;
  decode(text: string | null | undefined): unknown;
  /** The notes that were encoded with a value, if any. */
  shown(text: string | null | undefined): ShownRecords | undefined;
  /**
   * A codec for one run. When it has seen a password under the name of its field, it also leaves out other values that
   * equal that password.
   * @param values searched for passwords first
   */
  forRun(...values: readonly unknown[]): Codec;
}

/** Marks a password that was left out. */
const GONE = "$gone";
const MAX_DEPTH = 32;
/** The most characters of one value: more than a request may send, because dates and records take more space here. */
const MOST_OF_VALUE = 2_097_152;
/** The most characters that one process writes for one run. */
const MOST_OF_RUN = 33_554_432;
/** Types whose content is not in their members. */
const OPAQUE = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer];

/**
 * JSON with dates, big integers and records, which stay records of their entity. Objects with a `toJSON` method are
 * stored as its result, other objects by their own members. Passwords are left out, by the names of their fields and
 * wherever the same text occurs again. Other secrets are encrypted by the columns.
 */
export function createCodec(model: EntityModel): Codec {
  return codecOf(model, secretNames(model), undefined);
}

/** @param met passwords that a run has used; undefined: each value is searched separately */
function codecOf(model: EntityModel, secret: ReadonlySet<string>, met: Set<string> | undefined): Codec {
  let passwords = met ?? new Set<string>();
  let written = 0;

  /** @throws ResultNotKept for texts that are too long: a journal is kept, and read often */
  function bounded(text: string): string {
    written += text.length;
    const advice = "keep it elsewhere, and give its id";
    if (text.length > MOST_OF_VALUE)
      throw new ResultNotKept(`A value has more than the ${MOST_OF_VALUE} characters of a workflow's; ${advice}`);
    if (met !== undefined && written > MOST_OF_RUN)
      throw new ResultNotKept(`The steps give more than the ${MOST_OF_RUN} characters of a run; ${advice}`);
    return text;
  }

  function plain(value: unknown, depth: number): unknown {
    if (typeof value === "string" && passwords.has(value)) return { [GONE]: true };
    if (depth > MAX_DEPTH) throw new ResultNotKept("A value is nested too deeply, or circular");
    if (typeof value === "bigint") return { $bigint: String(value) };
    if (typeof value === "function" || typeof value === "symbol")
      throw new ResultNotKept(`A ${typeof value} cannot be kept; give plain data`);
    if (typeof value === "number" && !Number.isFinite(value)) return { $number: String(value) };
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Date) return { $date: Number.isNaN(value.getTime()) ? null : value.getTime() };
    if (Array.isArray(value))
      return Array.from(value, (item) => (item === undefined ? { $undefined: true } : plain(item, depth + 1)));
    const entity = entityOfRecord(value);
    if (entity !== undefined) {
      const kept = { $record: entity.name, value: members(value as Row, depth, entity) };
      const read = readOtherwise(value as Row, entity);
      if (read === undefined) return kept;
      const unknown = Object.keys(read).filter((name) => read[name] === undefined);
      const missing = Object.fromEntries(unknown.map((name) => [name, { $undefined: true }]));
      return { ...kept, read: { ...members(read, depth, entity), ...missing } };
    }
    const opaque = ArrayBuffer.isView(value) ? "typed array" : OPAQUE.find((type) => value instanceof type)?.name;
    if (opaque !== undefined) throw new ResultNotKept(`A ${opaque} cannot be kept; give plain data`);
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === "function") return plain(toJSON.call(value), depth + 1);
    return members(value as Row, depth);
  }

  function members(value: Row, depth: number, entity?: AnyEntity): Row {
    // Omitted fields of a record are not enumerable, but its compensation may need them. It cannot have passwords.
    const hidden = (entity?.hidden ?? []).filter((name) => value[name] !== undefined);
    const kept: Row = Object.create(null); // "__proto__" is an ordinary name here
    for (const name of [...Object.keys(value), ...hidden]) {
      if (entity !== undefined && !Object.hasOwn(entity.columns, name)) continue;
      const isSecret = secret.has(name) && value[name] !== null && value[name] !== undefined;
      // A leading "$" belongs to the user: it is doubled to tell it from internal names.
      const key = name.startsWith("$") ? `$${name}` : name;
      if (!isSecret) kept[key] = plain(value[name], depth + 1);
      else if (entity === undefined) kept[key] = { [GONE]: true };
    }
    return kept;
  }

  function revive(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(revive);
    const object = value as Row;
    if ("$undefined" in object) return undefined;
    if ("$bigint" in object) return BigInt(object.$bigint as string);
    if ("$number" in object) return Number(object.$number);
    if ("$date" in object) return new Date((object.$date as number | null) ?? Number.NaN);
    if (GONE in object) return undefined;
    if ("$record" in object) {
      const entity = model.get(object.$record as string);
      const row = revive(object.value) as Row;
      if (entity === undefined) return row;
      // Earlier versions stored only the values, which may have been changed since they were read.
      if (!("read" in object)) return tagRecord(entity, row, null);
      const read = Object.entries({ ...row, ...(revive(object.read) as Row) });
      return tagRecord(entity, row, Object.fromEntries(read.filter(([, inner]) => inner !== undefined)));
    }
    return Object.fromEntries(
      Object.entries(object).map(([name, inner]) => [name.startsWith("$$") ? name.slice(1) : name, revive(inner)]),
    );
  }

  return Object.freeze<Codec>({
    encode(value, shown) {
      passwords = met ?? new Set();
      try {
        meet(value, secret, passwords);
        return bounded(
          JSON.stringify({ value: plain(value, 0), shown: shown && boundedNotes(shown, MOST_OF_VALUE / 4) }),
        );
      } catch (error) {
        if (error instanceof ResultNotKept) throw error;
        throw new ResultNotKept("A value cannot be kept: reading it failed", { cause: error });
      }
    },
    decode: (text) =>
      text === null || text === undefined ? undefined : revive((JSON.parse(text) as { value: unknown }).value),
    shown(text) {
      const { shown } = JSON.parse(text ?? "{}") as { readonly shown?: KeptNotes };
      const find = (name: string): AnyEntity | undefined =>
        model.get(name) ?? model.foreign.find((entity) => entity.name === name);
      return shown && restoredNotes(shown, find);
    },
    forRun(...values) {
      const own = new Set(met);
      try {
        meet(values, secret, own);
      } catch {
        // A value that cannot be read cannot be encoded either; `encode` reports it.
      }
      return codecOf(model, secret, own);
    },
  });
}

/**
 * The values of a record that differ from those that were read; undefined if the read values are not known. Omitted
 * fields that a copy has left out stay left out.
 */
function readOtherwise(record: Row, entity: AnyEntity): Row | undefined {
  const values = knownOf(record)?.values;
  if (values === undefined) return undefined;
  const names = Object.keys(entity.columns).filter(
    (name) =>
      !isDeepStrictEqual(values[name], record[name]) && (record[name] !== undefined || !entity.hidden.includes(name)),
  );
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** Collects the passwords in a value, by the names of their fields. */
function meet(value: unknown, secret: ReadonlySet<string>, met: Set<string>, seen = new Set<object>()): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  for (const [name, inner] of Object.entries(value)) {
    if (secret.has(name) && typeof inner === "string" && inner !== "") met.add(inner);
    meet(inner, secret, met, seen);
  }
}

/** Whether a password was left out of a text. */
export function hasGone(text: string | null | undefined): boolean {
  return text?.includes(`{"${GONE}":true}`) === true;
}

type Declared = Readonly<Record<string, { readonly definition?: FieldDefinition | undefined }>>;

/** Names of password fields: those of entities, and those in inputs and queries of actions. */
function secretNames({ entities }: EntityModel): ReadonlySet<string> {
  const names = entities.flatMap(({ fields, actions }) => [
    ...passwordsAmong(Object.entries(fields)),
    ...Object.values(actions).flatMap(givenPasswords),
  ]);
  return new Set(names);
}

function givenPasswords(action: unknown): readonly string[] {
  const { definition = action } = (action ?? {}) as { readonly definition?: unknown };
  const { input, query } = (definition ?? {}) as { readonly input?: Declared; readonly query?: Declared };
  return [input, query].flatMap((given) =>
    passwordsAmong(Object.entries(given ?? {}).map(([name, field]) => [name, field.definition])),
  );
}

function passwordsAmong(fields: readonly (readonly [string, FieldDefinition | undefined])[]): readonly string[] {
  return fields.flatMap(([name, field]) => (field?.password === undefined ? [] : [name]));
}
