import type { AnyEntity } from "../../entity/index.ts";
import { ALWAYS, allOf, anyOf, type Grant, NEVER, when } from "./grant.ts";
import { partsOfAll } from "./parts-of-all.ts";
import type { Role } from "./role.ts";

/** What rules are asked about. */
export interface Question {
  readonly role: Role;
  /** Undefined on endpoints that belong to no entity. */
  readonly entity: AnyEntity | undefined;
  /** Whether a record is about to be made, whose owner the caller becomes. */
  readonly isCreate: boolean;
}

function owns({ role, entity, isCreate }: Question): boolean {
  if (entity?.ownedBy === undefined || role === "anonymous") return false;
  // Nobody becomes the owner of a record that owns itself.
  return isCreate ? entity.ownedBy !== "id" : role === "owner";
}

const BUILT_IN: Readonly<Record<string, (question: Question) => boolean>> = {
  everyone: () => true,
  authenticated: ({ role }) => role !== "anonymous",
  admin: ({ role }) => role === "admin",
  owner: owns,
  ownerOrAdmin: (question) => question.role === "admin" || owns(question),
};

/**
 * What one rule grants. Custom rules are not called: what they say to a made-up caller proves nothing about real ones,
 * and they may ask the database. They stay conditions, by name.
 */
function grantOfRule(name: string, question: Question): Grant {
  const parts = partsOfAll(name);
  if (parts !== undefined) return allOf(parts.map((part) => grantOfRule(part, question)));
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn === undefined) return when(name);
  return builtIn(question) ? ALWAYS : NEVER;
}

/** What a list of rules grants: any of them passes, and an empty list denies. */
export function grantOfRules(names: readonly string[], question: Question): Grant {
  return anyOf(names.map((name) => grantOfRule(name, question)));
}
