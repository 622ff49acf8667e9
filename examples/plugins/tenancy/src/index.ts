// One database for many customers: each record belongs to a tenant, and callers see only records of their tenant.
import { string } from "keelson";
import {
  type AnyEntity,
  createPluginFactory,
  entityOf,
  narrowed,
  type OperationScope,
  withMiddleware,
} from "keelson/plugin";

/** Options of {@link tenancy}. */
export interface TenancyOptions {
  /** Names of entities that all tenants share. @default [] */
  readonly shared: readonly string[];
}

/** The tenant of a caller, as part of their records; undefined for the system, which sees all tenants. */
const within = ({ principal: { kind, user } }: Pick<OperationScope, "principal">) =>
  kind === "system" ? undefined : { tenantId: String(user?.tenantId ?? "") };

/** Keeps tenants apart by the `tenantId` of the caller, on every surface: routes, handlers' drivers, steps, clients. */
export const tenancy = createPluginFactory<TenancyOptions>(({ shared = [] }) => {
  const appliesTo = ({ name, internal }: AnyEntity) => !internal && !shared.includes(name);
  return {
    id: "example/tenancy",
    extend: { "*": { tenantId: string.readonly().optional() } },
    setup({ records }) {
      records.stamp(within, { appliesTo });
      records.policy({
        name: "tenancy",
        appliesTo,
        allows: ({ decision, scope }) => void (decision.allowed = within(scope)?.tenantId !== ""),
        visible: (question) => question.require(within(question.scope) ?? {}),
      });
    },
    wrapHandlerDriver(driver, { entities }, scope) {
      const where = scope && within(scope);
      if (where === undefined) return driver;
      return withMiddleware(driver, (statement, next) =>
        next(appliesTo(entityOf(statement)) ? narrowed(statement, where, entities) : statement),
      );
    },
  };
});
