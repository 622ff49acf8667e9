import type { AnyEntity, RuleObject } from "../../entity/index.ts";
import type { User } from "../../kernel/index.ts";

/** A rule about the caller's active organization, in the form of the rules plugin. */
interface OrganizationRule extends RuleObject {
  readonly evaluate: (context: {
    readonly user: User | null;
    readonly entity: AnyEntity | undefined;
  }) => false | Readonly<Record<string, string>>;
  readonly check: (entity: AnyEntity) => string | undefined;
}

/**
 * A rule that passes for records of the caller's active organization, as long as the caller is a member. On
 * `organization` it is about that record itself; other entities need a relation `organization`.
 * @param roles roles in the organization, one of which the caller must have @default any role
 * @example entity("plan", { title: string, organization: belongsTo(() => organization) }).rules({ read: [inOrganization()], delete: [inOrganization("owner")] })
 */
export function inOrganization(...roles: readonly string[]): OrganizationRule {
  const name = roles.length === 0 ? "inOrganization" : `inOrganization(${roles.join(",")})`;
  const rule = made.get(name) ?? createRule(name, roles);
  made.set(name, rule);
  return rule;
}

/** Rules by name. A second rule with the same name would be ambiguous. */
const made = new Map<string, OrganizationRule>();

function createRule(name: string, roles: readonly string[]): OrganizationRule {
  return Object.freeze<OrganizationRule>({
    name,
    evaluate({ user, entity }) {
      const { organizationId, organizationRole } = (user ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof organizationId !== "string" || entity === undefined) return false;
      const held = typeof organizationRole === "string" ? organizationRole.split(",").map((role) => role.trim()) : [];
      if (roles.length > 0 && !roles.some((role) => held.includes(role))) return false;
      return { [keyOf(entity)]: organizationId };
    },
    check: (entity) =>
      Object.hasOwn(entity.columns, keyOf(entity)) ? undefined : "it needs a relation `organization` on the entity",
  });
}

function keyOf({ name }: AnyEntity): string {
  return name === "organization" ? "id" : "organizationId";
}
