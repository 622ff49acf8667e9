import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import type { HookFunction, Operation, OperationKind, PluginContext, Row } from "../../gate/index.ts";
import { type AuditOperation, keepEntries, recordChange } from "./audit-entry.ts";
import { followDeletion } from "./follow-deletion.ts";

/** Keeps what operations do, in their own transactions. */
export function auditOperations(
  { hooks }: Pick<PluginContext, "hooks">,
  model: EntityModel,
  audited: ReadonlySet<AnyEntity>,
): void {
  /** Records as the statement found them, by operation. */
  const replaced = new WeakMap<object, { before: Row | null }>();
  const forKinds =
    (...kinds: readonly OperationKind[]) =>
    (entity: AnyEntity, kind: OperationKind): boolean =>
      kinds.includes(kind) && audited.has(entity);

  const watch = (operation: Operation): void => {
    if (replaced.has(operation)) return;
    const held: { before: Row | null } = { before: null };
    replaced.set(operation, held);
    operation.transactional = true;
    const { entity, kind } = operation;
    operation.whenHeld(async (record) => {
      held.before = { ...record };
      const { driver } = operation.scope;
      if (kind === "delete")
        await followDeletion({ model, audited, driver, actor: operation.scope }, entity, record.id as string);
    });
  };
  const keep: HookFunction<"operation:execute"> = async (operation) => {
    const { entity, kind, records, scope } = operation;
    const before = replaced.get(operation)?.before ?? null;
    const after = kind === "delete" ? null : (records[0] ?? null);
    // An update that found nothing to change is no write, and has not looked at what was there.
    if (before === null && (kind === "update" || after === null)) return;
    await keepEntries(scope.driver, scope, recordChange(kind as AuditOperation, entity, before, after));
  };

  // Last before the statement, when it is known whether anything is written: an update of nothing stays one.
  hooks.on(
    "operation:protect",
    (operation) => {
      if (operation.kind === "create") operation.transactional = true;
      else if (Object.keys(operation.data).length > 0) watch(operation);
    },
    { appliesTo: forKinds("create", "update") },
  );
  hooks.on("operation:narrow", watch, { appliesTo: forKinds("delete") });
  // Statements like the operation's own: the request's time limit counts, not the one for hooks.
  hooks.on("operation:execute", keep, { appliesTo: forKinds("create", "update", "delete"), timeout: 0 });
}
