// audit: records who changed which record. Each write of a record stores an entry in the same transaction, so that
// neither exists without the other. Not part of the specification; opt-in.

import type { AnyEntity, EntityModel, EntityRulesInput } from "../../entity/index.ts";
import {
  AuditLog,
  createPlugin,
  type Driver,
  type MaskDraft,
  type Plugin,
  schemaFromEntities,
} from "../../gate/index.ts";
import { describeError, didYouMean, type Logger, unknownKeys } from "../../kernel/index.ts";
import { auditEntry, ENTRY } from "./audit-entry.ts";
import { entriesDriver } from "./entries-driver.ts";
import { keepEntries, noteEntry } from "./keep-entries.ts";

// Listener: changes of records become entries. Wraps drivers: entries cannot be changed. Entity: auditEntry. Hook:
// access:mask (entries cannot be filtered by their values). Service: `AuditLog`.

/** Options of `audit`. */
export interface AuditOptions {
  /**
   * Rules for reading entries; one of them has to pass. Readers see the changes of all records, regardless of the read
   * rules of their entities. Field rules apply: values of fields that a reader may not see are hidden.
   * @default none: entries have no routes
   */
  readonly read?: EntityRulesInput["read"] | undefined;
  /** Names of the audited entities. @default all that are not internal */
  readonly entities?: readonly string[] | undefined;
  /** Names of entities that are not audited. @default none */
  readonly except?: readonly string[] | undefined;
  /** Days after which an entry is deleted. @default never */
  readonly keepDays?: number | undefined;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** Entries per delete statement, so that other statements get their turn. */
const PORTION = 1_000;

const KNOWN: Readonly<Record<keyof AuditOptions, true>> = { read: true, entities: true, except: true, keepDays: true };

/**
 * Records who changed which record, as records of the entity `auditEntry`.
 * @param options which entities are audited, who may read entries, and how long entries are kept
 * @example
 * keelson({ entities, plugins: [audit({ read: ["admin"] })] })
 */
export function audit(options: AuditOptions = {}): Plugin {
  const { read, keepDays } = options;
  return createPlugin({
    id: "audit",
    version: "1.0.0",
    schema: schemaFromEntities([auditEntry(read)]),
    setup({ entities: model, hooks, records, problem, provide, driver }) {
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) problem(`audit: ${sentence}`);
      if (keepDays !== undefined && !(Number.isFinite(keepDays) && keepDays > 0))
        problem("audit({ keepDays }) takes a number of days above 0");
      const audited = auditedEntities(model, options, problem);
      records.onChange(keepEntries, { appliesTo: (entity) => audited.has(entity) });
      hooks.on("access:mask", closeValues, { appliesTo: ({ name }) => name === ENTRY });
      provide(AuditLog, () => ({ note: (scope, entry) => noteEntry(driver, scope, entry) }));
      return { cleanUp: undefined as CleanUp | undefined };
    },
    wrapDriver: (driver, { entities: model }) => entriesDriver(driver, model),
    start({ driver, log }, state) {
      if (keepDays !== undefined) state.cleanUp = startCleanUp(driver, log, keepDays);
    },
    stop: (_context, { cleanUp }) => cleanUp?.stop(),
  });
}

/** Removes the values from the filterable fields: a filter would reveal values that the reader may not see. */
function closeValues(draft: MaskDraft): void {
  if (draft.principal.kind === "system") return;
  const isOpen = (name: string): boolean => name !== "before" && name !== "after";
  draft.mask = { ...draft.mask, filterable: new Set([...draft.mask.filterable].filter(isOpen)) };
}

/** The audited entities. Reports unknown names, because their changes would be missed. */
function auditedEntities(
  model: EntityModel,
  { entities, except = [] }: AuditOptions,
  problem: (sentence: string) => void,
): ReadonlySet<AnyEntity> {
  const all = model.entities.filter(({ name }) => name !== ENTRY);
  const names = all.map(({ name }) => name);
  for (const [option, given] of Object.entries({ entities: entities ?? [], except }))
    for (const name of given)
      if (!names.includes(name))
        problem(`audit({ ${option} }): there is no entity "${name}" to keep changes of.${didYouMean(name, names)}`);
  const isChosen = ({ name, internal }: AnyEntity): boolean => entities?.includes(name) ?? !internal;
  return new Set(all.filter((entity) => isChosen(entity) && !except.includes(entity.name)));
}

/** Deletes old entries while the app runs. */
interface CleanUp {
  stop(): Promise<void>;
}

/**
 * Deletes entries that are older than some days, at once and then every hour. Several processes may do so at the same
 * time.
 * @param driver the base driver, because all others refuse to delete entries
 */
function startCleanUp(driver: Driver, log: Logger, keepDays: number): CleanUp {
  let isStopped = false;
  async function run(): Promise<void> {
    try {
      const where = { at: { lt: new Date(Date.now() - keepDays * DAY_MS) } };
      while (!isStopped) {
        const rows = await driver.findMany(ENTRY, { where, select: ["id"], limit: PORTION });
        if (rows.length === 0) return;
        await driver.deleteMany(ENTRY, { id: { in: rows.map(({ id }) => id) } });
      }
    } catch (error) {
      log.error("Old audit entries could not be deleted", describeError(error));
    }
  }
  let running = run();
  const timer = setInterval(() => {
    running = running.then(run);
  }, EVERY_MS);
  timer.unref();
  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
      return running;
    },
  };
}
