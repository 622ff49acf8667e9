import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import type { Keelson, KeelsonConfig, RemoteService } from "../../index.ts";
import { isPromiseLike } from "../../kernel/index.ts";
import { type AccessMatrix, OPERATIONS, type Operation } from "../access/access-matrix.ts";
import { createMatrix } from "../access/create-matrix.ts";
import { ALWAYS, isCovered, ROLES } from "../access/grant.ts";
import { type AppParts, partsOf } from "../project/load-project.ts";

/** Entities with protected fields that any caller may read or change. */
const openProtectedEntity: LintRule = {
  id: "open-protected-entity",
  title: "Protected fields on an entity that is open to everybody",
  why: "Encryption protects the database's files, not the responses: callers who may read the record read its encrypted fields, too.",
  fix: 'Give the field rules of its own, .readable("owner"), or the entity a stricter rule than everyone.',
  level: "warning",
  find: (subject) =>
    subject.model.entities.flatMap((entity) => [...readOpenly(subject, entity), ...changedOpenly(subject, entity)]),
};

function isOpen({ matrix }: LintSubject, { name }: AnyEntity, operation: Operation): boolean {
  const grants = matrix.entities[name]?.operations[operation];
  return grants !== undefined && isCovered(ALWAYS, grants.anonymous);
}

function readOpenly({ matrix }: LintSubject, entity: AnyEntity): Place[] {
  return Object.entries(entity.fields).flatMap(([name, { encrypted }]) => {
    const read = matrix.entities[entity.name]?.fields[name]?.read.anonymous;
    if (encrypted === undefined || read === undefined || !isCovered(ALWAYS, read)) return [];
    return [{ at: `${entity.name}.${name}`, what: "everybody may read this encrypted field" }];
  });
}

function changedOpenly(subject: LintSubject, entity: AnyEntity): Place[] {
  const fields = Object.entries(entity.fields).filter(
    ([, { password, omit, encrypted, readable, writable }]) => password || omit || encrypted || readable || writable,
  );
  if (fields.length === 0) return [];
  return (["update", "delete"] as const)
    .filter((operation) => isOpen(subject, entity, operation))
    .map((operation) => ({
      at: `${entity.name}.rules.${operation}`,
      what: `everybody may ${operation} it, and it has protected fields (${fields.map(([name]) => name).join(", ")})`,
    }));
}

/** Relations whose target has stricter read rules. */
const stricterInclude: LintRule = {
  id: "stricter-include",
  title: "Relation to an entity with stricter rules",
  why: "An include of it is null, or has fewer records, for callers who may read the record itself. Nothing leaks; clients may be surprised.",
  fix: "If that is meant, nothing. Otherwise give both entities the same rule for read.",
  level: "note",
  find: ({ model, matrix }) =>
    [...model.entities, ...model.foreign].flatMap((entity) =>
      model.relationsOf(entity).flatMap(({ name, target }) => {
        const [from, to] = [entity, target].map((one) => matrix.entities[one.name]?.operations.read);
        if (from === undefined || to === undefined) return [];
        const fewer = ROLES.filter((role) => !isCovered(from[role], to[role]));
        if (fewer.length === 0) return [];
        const may = fewer.every((role) => isCovered(ALWAYS, from[role])) ? "may" : "may be allowed to";
        return [
          {
            at: `${entity.name}.${name}`,
            what: `${fewer.join(", ")} ${may} read ${entity.name}, and not every ${target.name} it leads to`,
          },
        ];
      }),
    ),
};

/** The properties that the default `isAdmin` reads. */
const FLAGS = ["role", "roles", "isAdmin"];

/** Fields that make a user an administrator and that other callers may write. */
const writableAdminFlag: LintRule = {
  id: "writable-admin-flag",
  title: "A field that makes an administrator can be written by others",
  why: "Callers who may change their own record could make themselves an administrator.",
  fix: 'Add .readonly(), or .writable("admin"), to the field.',
  level: "warning",
  find: ({ matrix }) =>
    Object.entries(matrix.entities).flatMap(([name, { fields }]) =>
      FLAGS.flatMap((flag) => {
        const access = fields[flag];
        if (access === undefined) return [];
        const others = ROLES.filter(
          (role) => role !== "admin" && (access.create[role].length > 0 || access.update[role].length > 0),
        );
        return others.length === 0 ? [] : [{ at: `${name}.${flag}`, what: `${others.join(", ")} may write it` }];
      }),
    ),
};

/** Records whose owners belong to an entity other than the callers'. */
const ownersOfSeveralEntities: LintRule = {
  id: "owners-of-several-entities",
  title: "Owners of several entities",
  why: "A caller has one id. Where records of two entities can be owners, a caller owns what the record of the other one with the same id owns.",
  fix: "Let .ownedBy() lead to the entity that getUser() gives callers of. Ids that never repeat, such as UUIDs, make it harmless.",
  level: "note",
  find({ model }) {
    const owned = model.entities.flatMap((entity) => {
      const { name, ownedBy } = entity;
      if (ownedBy === undefined) return [];
      const owner = ownedBy === "id" ? entity : model.relation(entity, ownedBy)?.target;
      return owner === undefined ? [] : [{ name, owner: owner.name, isSelf: ownedBy === "id" }];
    });
    const callers = (owned.find(({ isSelf }) => isSelf) ?? owned[0])?.owner;
    return owned
      .filter(({ owner }) => owner !== callers)
      .map(({ name, owner }) => ({
        at: name,
        what: `it is owned by records of ${owner}, and others by those of ${callers}`,
      }));
  },
};

/**
 * Entities whose rules allow no caller to use their routes or, for entities of another service, to read their records.
 */
const entityWithoutRules: LintRule = {
  id: "entity-without-rules",
  title: "Entity without rules",
  why: "What is not allowed is denied, so its routes cannot be used. Often the rules were only forgotten.",
  fix: "Add .rules({ read: [...], create: [...], update: [...], delete: [...] }), or .internal() when only code uses it.",
  level: "warning",
  find: ({ matrix, model }) =>
    Object.entries(matrix.entities).flatMap(([name, { operations }]) => {
      if (model.get(name)?.internal) return [];
      const isClosed = OPERATIONS.every((operation) => ROLES.every((role) => operations[operation][role].length === 0));
      if (!isClosed) return [];
      const isForeign = model.get(name) === undefined;
      const what = isForeign
        ? "no caller may read it: includes are null"
        : "no caller may create, read, update or delete it";
      return [{ at: name, what }];
    }),
};

/** Services of remote relations whose calls are only ended by the deadline of the whole join. */
const serviceWithoutTimeout: LintRule = {
  id: "service-without-timeout",
  title: "Service without a timeout of its own",
  why: "While it hangs, every response that joins it takes as long as the whole join may, and later relations are null.",
  fix: "Give httpService a `timeout` below that of remoteJoins. A service of your own ends its calls itself, and says after how many milliseconds in its member `timeout`.",
  level: "note",
  find: ({ services }) =>
    [...services].flatMap(([name, { timeout }]) =>
      isTimeout(timeout) ? [] : [{ at: name, what: "only the deadline of the whole join ends a call to this service" }],
    ),
};

function isTimeout(timeout: unknown): boolean {
  return typeof timeout === "number" && Number.isFinite(timeout) && timeout > 0;
}

/** Endpoints and actions that no caller may use. Operations of entities may be closed on purpose. */
const routeWithoutRules: LintRule = {
  id: "route-without-rules",
  title: "Endpoint without rules",
  why: "It refuses every caller with 401 or 403, because what is not allowed is denied.",
  fix: "Add `rules` to the endpoint, or .rules(...) to the action.",
  level: "warning",
  find: ({ routes, model }) =>
    routes
      .filter(({ rules, entity, action }) => {
        if (rules.length > 0) return false;
        return entity === undefined || Object.hasOwn(model.get(entity)?.actions ?? {}, action);
      })
      .map(({ method, path, plugin }) => ({
        at: `${method} ${path}`,
        what: `no caller may call it (plugin ${plugin})`,
      })),
};

/** Records that anonymous callers may change or delete. */
const anonymousWrite: LintRule = {
  id: "anonymous-write",
  title: "Anonymous callers may change or delete records",
  why: "Without a login a change cannot be traced to a user, and a single request can empty a list.",
  fix: 'Use "authenticated", "owner" or a rule of your own for update and delete.',
  level: "warning",
  find: ({ matrix }) =>
    Object.entries(matrix.entities).flatMap(([name, { operations }]) =>
      (["update", "delete"] as const)
        .filter((operation) => isCovered(ALWAYS, operations[operation].anonymous))
        .map((operation) => ({ at: `${name}.rules.${operation}`, what: `everybody may ${operation} every record` })),
    ),
};

/** Every rule of the linter; warnings first. */
export const LINT_RULES: readonly LintRule[] = [
  entityWithoutRules,
  openProtectedEntity,
  anonymousWrite,
  writableAdminFlag,
  routeWithoutRules,
  stricterInclude,
  serviceWithoutTimeout,
  ownersOfSeveralEntities,
];

/** Runs the rules on an app, which does not have to be started. */
export function lintApp(app: Keelson, config: KeelsonConfig): readonly Finding[] {
  const parts = partsOf(app);
  const subject = { ...parts, matrix: createMatrix(parts, config), services: remoteServicesOf(app, parts.model) };
  return LINT_RULES.flatMap(({ id, level, find }) => find(subject).map((place) => ({ id, level, ...place })));
}

/**
 * The services of remote relations, created as on their first use; no service is called. Promises are not awaited, and
 * errors of factories are ignored here and reported on the first use of the service.
 */
function remoteServicesOf(
  { hasService, resolve }: Pick<Keelson, "hasService" | "resolve">,
  { entities, foreign }: EntityModel,
): ReadonlyMap<string, RemoteService> {
  const relations = [...entities, ...foreign].flatMap((entity) => Object.values(entity.relations));
  const names = new Set(relations.flatMap(({ remote }) => remote?.service ?? []));
  const services = new Map<string, RemoteService>();
  for (const name of names) {
    if (!hasService(name)) continue;
    try {
      const service = resolve(name);
      if (isPromiseLike(service)) service.then(undefined, () => {});
      else if (typeof service === "object" && service !== null) services.set(name, service as RemoteService);
    } catch {
      // Not a problem of the definitions.
    }
  }
  return services;
}

/** The input of rules: the parts of an app and its permissions. */
interface LintSubject extends AppParts {
  readonly matrix: AccessMatrix;
  /** Services of remote relations by name, as far as the app provides them. */
  readonly services: ReadonlyMap<string, RemoteService>;
}

/** A rule of the linter, for definitions that work but are likely to be a mistake. */
interface LintRule {
  /** In kebab-case. */
  readonly id: string;
  readonly title: string;
  /** The possible consequence. */
  readonly why: string;
  /** The remedy. */
  readonly fix: string;
  /** "warning" fails the command; "note" may be intended. */
  readonly level: "warning" | "note";
  /** Returns the places in the definitions, with a description of each finding. */
  find(subject: LintSubject): readonly Place[];
}

interface Place {
  /** `note`, `note.text`, `POST /api/notes`. */
  readonly at: string;
  /** A sentence without a full stop. */
  readonly what: string;
}

/** A finding of a rule. */
export type Finding = Pick<LintRule, "id" | "level"> & Place;
