// audit: who did what to which record. Every write of a record leaves an entry, in the transaction of the write: there is
// no write without its entry, and no entry without its write. Not part of the specification; opt-in.
import type { AnyEntity } from "../../entity/index.ts";
import { createPlugin, type Plugin, schemaFromEntities, unknownKeys } from "../../kernel/index.ts";
import { auditEntry } from "./audit-entry.ts";
import { auditOperations } from "./audit-operations.ts";
import type { AuditOptions } from "./audit-options.ts";
import { auditedEntities } from "./audited-entities.ts";
import { auditingDriver } from "./auditing-driver.ts";
import { type CleanUp, startCleanUp } from "./clean-up.ts";
import { entriesDriver } from "./entries-driver.ts";

export type { AuditOptions } from "./audit-options.ts";

// Hooks: operation:protect and operation:narrow (what is replaced is kept), operation:execute (the entry); around drivers:
// entries only grow, and what handlers write leaves entries, too. Entity: auditEntry. No services.

const KNOWN: readonly (keyof AuditOptions)[] = ["read", "entities", "except", "keepDays"];

/**
 * Keeps who did what to which record, as records of the entity `auditEntry`.
 * @param options which entities, who reads entries, and for how long they are kept
 * @example
 * keelson({ entities, plugins: [audit({ read: ["admin"] })] })
 */
export function audit(options: AuditOptions = {}): Plugin {
  const { read, keepDays } = options;
  let audited: ReadonlySet<AnyEntity> = new Set();
  let cleanUp: CleanUp | undefined;
  return createPlugin({
    id: "audit",
    version: "1.0.0",
    schema: schemaFromEntities([auditEntry(read)]),
    setup(context) {
      const { entities: model, problem } = context;
      for (const sentence of unknownKeys(options, KNOWN)) problem(`audit: ${sentence}`);
      if (keepDays !== undefined && !(Number.isFinite(keepDays) && keepDays > 0))
        problem("audit({ keepDays }) takes a number of days above 0");
      audited = auditedEntities(model, options, problem);
      auditOperations(context, model, audited);
    },
    wrapDriver: (driver, { entities: model }) => entriesDriver(driver, model),
    wrapHandlerDriver: (driver, { entities: model }, actor) => auditingDriver(driver, { model, audited, actor }),
    start({ driver, log }) {
      if (keepDays !== undefined) cleanUp = startCleanUp(driver, log, keepDays);
    },
    async stop() {
      await cleanUp?.stop();
    },
  });
}
