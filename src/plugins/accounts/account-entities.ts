import type { getAuthTables } from "better-auth/db";
import {
  type AnyEntity,
  type AnyField,
  belongsTo,
  bool,
  datetime,
  email,
  entity,
  type FieldMap,
  int,
  resolveEntity,
  string,
  text,
} from "../../entity/index.ts";
import { inOrganization } from "./in-organization.ts";

type AuthTables = ReturnType<typeof getAuthTables>;
type AuthField = AuthTables[string]["fields"][string];

/**
 * Fields of the entity `user` that better-auth reads and writes. Spread them into your own entity to add fields or
 * change rules, and pass it to `accounts({ entities: [user] })`.
 */
export const userFields = {
  name: string.min(1),
  /** better-auth changes it after the user has confirmed it. */
  email: email.unique().readonly().readable("owner", "admin"),
  emailVerified: bool.default(false).readonly().readable("owner", "admin"),
  image: text.optional(),
  role: string.default("user").readonly().readable("owner", "admin"),
};

/** The user of a session. Users read and update their own record; administrators read all. */
export const user = entity("user", userFields)
  .ownedBy("id")
  .rules({ read: ["ownerOrAdmin"], update: ["owner"] })
  .hideForbidden();

/**
 * An organization of better-auth's `organization` plugin. Members can read it while it is their active organization.
 */
export const organization = entity("organization", {
  name: string,
  slug: string.unique(),
  logo: text.optional(),
  metadata: text.optional(),
}).rules({ read: [inOrganization()] });

const DEFAULTS: readonly AnyEntity[] = [user, organization].map((one) => resolveEntity(one) as AnyEntity);

/** The entities for better-auth's tables. */
export interface AccountEntities {
  readonly brought: readonly AnyEntity[];
  /**
   * Columns of better-auth's plugins that the app's own entities lack, by entity. Callers can neither see nor write
   * them.
   */
  readonly missing: Readonly<Record<string, Readonly<Record<string, AnyField>>>>;
}

/**
 * Makes entities for better-auth's tables.
 * @param tables of better-auth and its plugins
 * @param own entities of the app that replace one of them
 */
export function accountEntities(tables: AuthTables, own: readonly AnyEntity[]): AccountEntities {
  const known = new Map<string, AnyEntity>([...DEFAULTS, ...own].map((one) => [one.name, one]));
  const made = new Map<string, AnyEntity>();
  const find = (name: string): AnyEntity => (known.get(name) ?? made.get(name)) as AnyEntity;
  const missing: Record<string, Record<string, AnyField>> = {};
  for (const [name, { fields }] of Object.entries(tables)) {
    const declared = known.get(name);
    if (declared === undefined) made.set(name, tableEntity(name, fields, find));
    else {
      const absent = Object.entries(fields).filter(([field]) => !Object.hasOwn(declared.columns, field));
      if (absent.length > 0)
        missing[name] = Object.fromEntries(
          absent.map(([field, of]) => [field, closed(fieldOf(of).optional()).readonly()]),
        );
    }
  }
  const names = new Set(own.map((one) => one.name));
  const defaults = DEFAULTS.filter((one) => Object.hasOwn(tables, one.name) && !names.has(one.name));
  return { brought: [...defaults, ...made.values()], missing };
}

const TIMES: ReadonlySet<string> = new Set(["createdAt", "updatedAt"]);

/** An entity that only better-auth reads and writes: it has no routes and rules, and its secrets are omitted. */
function tableEntity(name: string, fields: AuthTables[string]["fields"], find: (name: string) => AnyEntity): AnyEntity {
  const members = Object.entries(fields).flatMap(([field, of]): readonly (readonly [string, FieldMap[string]])[] => {
    if (TIMES.has(field)) return [];
    const { references, required, returned } = of;
    if (references?.field === "id" && field.endsWith("Id")) {
      const relation = belongsTo(() => find(references.model)).onDelete("cascade");
      return [[field.slice(0, -2), required === false ? relation.optional() : relation] as const];
    }
    const plain = required === false ? fieldOf(of).optional() : fieldOf(of);
    return [[field, returned === false || field === "token" ? closed(plain) : plain] as const];
  });
  const indexed = Object.entries(fields).filter(([, { index, unique, references }]) => index && !unique && !references);
  const built = indexed.reduce(
    (sofar, [field]) => sofar.index([field]),
    entity(name, Object.fromEntries(members)).internal(),
  );
  return resolveEntity(built) as AnyEntity;
}

function fieldOf({ type, unique, index, references, sortable }: AuthField): AnyField & Closable {
  const isShort = unique === true || index === true || references !== undefined || sortable === true;
  const plain =
    type === "boolean" ? bool : type === "number" ? int : type === "date" ? datetime : isShort ? string : text;
  return (unique === true ? (plain as typeof string).unique() : plain) as unknown as AnyField & Closable;
}

interface Closable {
  omit(): AnyField & Closable;
  readonly(): AnyField & Closable;
  optional(): AnyField & Closable;
}

function closed(field: AnyField & Closable): AnyField & Closable {
  return field.omit();
}
