import type { AnyEntity } from "../../entity/index.ts";
import type { FieldMask, OperationScope, PluginContext, Route } from "../../kernel/index.ts";
import { createRouteFinder } from "./usable-routes.ts";
import { type Questions, watchScope } from "./watch-scope.ts";

/** What a reader may do: all that their document depends on. */
export interface ReaderView {
  /** For descriptions of routes; what they ask of it becomes part of the key. */
  readonly scope: OperationScope;
  readonly routes: readonly Route[];
  /** Those that callers without a name may use for all records. */
  readonly open: ReadonlySet<Route>;
  /** Whether every route of the app is such a one. */
  readonly isAllOpen: boolean;
  /** Entities whose records they may read, all or some. */
  readonly reads: ReadonlySet<AnyEntity>;
  /**
   * The same for readers who may do the same, by what descriptions have asked so far on behalf of any reader; undefined for
   * what is this reader's alone.
   */
  key(): Promise<string | undefined>;
}

/** Looks at readers of one app. */
export type LookAtReader = (scope: OperationScope) => Promise<ReaderView>;

export function createReaderViews(context: PluginContext): LookAtReader {
  const { entities: model } = context;
  const own = new Set<AnyEntity>(model.entities);
  const all = [...model.entities, ...model.foreign];
  const findRoutes = createRouteFinder(context);
  const questions: Questions = new Map();

  return async (scope) => {
    for (const entity of all) scope.mask(entity);
    await scope.maskReady();
    const reads = new Set<AnyEntity>();
    const told: unknown[] = [scope.principal.kind, scope.principal.isAdmin];
    for (const entity of all) {
      const { allowed, forSome } = await scope.readDecision(entity);
      if (allowed && own.has(entity)) reads.add(entity);
      told.push(allowed, forSome, maskText(scope.mask(entity)));
    }
    const { routes, open, isAllOpen } = await findRoutes(scope);
    for (const route of routes) told.push(route.method, route.path, open.has(route));
    told.push(isAllOpen);
    const watched = watchScope(scope, questions);
    return {
      scope: watched.scope,
      routes,
      open,
      isAllOpen,
      reads,
      async key() {
        await watched.askAll();
        const answers = watched.answers();
        return watched.isPersonal || answers === undefined ? undefined : JSON.stringify([told, answers]);
      },
    };
  };
}

const texts = new WeakMap<FieldMask, string>();

/** Names of fields are words, so that no two masks have one text. */
function maskText(mask: FieldMask): string {
  const { readable, writable, filterable, sortable, readablePerRow, writablePerRow } = mask;
  const known = texts.get(mask);
  if (known !== undefined) return known;
  const perRow = [readablePerRow?.keys() ?? [], writablePerRow?.keys() ?? []];
  const text = [readable, writable, filterable, sortable, ...perRow].map((names) => [...names].join()).join("|");
  texts.set(mask, text);
  return text;
}
