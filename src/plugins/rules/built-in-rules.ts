import { type AnyEntity, foreignKeyOf } from "../../entity/index.ts";
import type { User } from "../../kernel/index.ts";
import type { Rule, RuleContext, RuleResult } from "./rule.ts";

/**
 * The column that holds the owner's id: a foreign key, or "id" when a record is its own owner. Undefined when nobody
 * owns such records.
 */
export function ownerKeyOf(entity: AnyEntity): string | undefined {
  const { ownedBy } = entity;
  if (ownedBy === undefined || ownedBy === "id") return ownedBy;
  const relation = Object.hasOwn(entity.relations, ownedBy) ? entity.relations[ownedBy] : undefined;
  return relation === undefined ? undefined : foreignKeyOf(ownedBy, relation);
}

/** Whether somebody is logged in, recognisably: an id that is no text must never equal anything. */
export function isIdentified(user: User | null): user is User {
  return user !== null && typeof user.id === "string" && user.id !== "";
}

function owns({ user, entity, operation }: RuleContext): RuleResult {
  const key = entity === undefined ? undefined : ownerKeyOf(entity);
  if (key === undefined || !isIdentified(user)) return false;
  // Whoever creates a record becomes its owner; nobody becomes the owner of a record that owns itself.
  return operation === "create" ? key !== "id" : { [key]: user.id };
}

function needsOwner(entity: AnyEntity): string | undefined {
  return ownerKeyOf(entity) === undefined ? 'it needs .ownedBy("…") on the entity' : undefined;
}

/** Passes always, for anonymous callers too (spec section 5). */
export const everyone: Rule = Object.freeze<Rule>({ name: "everyone", evaluate: () => true });

/** Passes when the caller is logged in (spec section 5). */
export const authenticated: Rule = Object.freeze<Rule>({
  name: "authenticated",
  evaluate: ({ user }) => isIdentified(user),
});

/** Passes for administrators, as the app's `isAdmin` tells them (spec section 5). */
export const admin: Rule = Object.freeze<Rule>({ name: "admin", evaluate: ({ isAdmin }) => isAdmin });

/** Passes for records that belong to the caller by `.ownedBy`; on create the caller becomes the owner (spec section 5). */
export const owner: Rule = Object.freeze<Rule>({ name: "owner", evaluate: owns, check: needsOwner });

/** Passes for administrators, and for records that belong to the caller (spec section 5). */
export const ownerOrAdmin: Rule = Object.freeze<Rule>({
  name: "ownerOrAdmin",
  evaluate: (context) => (context.isAdmin ? true : owns(context)),
  check: needsOwner,
});

/** The rules every app has, by name. They need neither database nor waiting, so they are asked first. */
export const BUILT_IN_RULES: ReadonlyMap<string, Rule> = new Map(
  [everyone, authenticated, admin, owner, ownerOrAdmin].map((rule) => [rule.name, rule]),
);
