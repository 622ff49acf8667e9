import { type AnyEntity, ConfigurationError, createModel, type EntityLike, resolveEntity } from "../../entity/index.ts";
import {
  compileWhere,
  entityOfRecord,
  isAlways,
  matches,
  type Observation,
  observe,
  type Row,
  type Where,
} from "../../gate/index.ts";
import {
  ANONYMOUS,
  AuthenticationError,
  defaultIsAdmin,
  getLogger,
  isPromiseLike,
  type Principal,
  safeLogger,
  UnavailableError,
  type User,
} from "../../kernel/index.ts";
import { isWhere, type Reported, reportAnswer, reportFailure, unaskable } from "./ask-rule.ts";
import { isIdentified, partsOfAll, type Rule, type RuleContext } from "./rule.ts";
import { createRuleTable } from "./rule-table.ts";

/** The caller who gets the filtered fields. */
export interface FieldFilterOptions {
  /** The user; `null` for anonymous callers. */
  readonly user: User | null | undefined;
  /**
   * Whether the caller is an administrator. Pass the result of the app's own `isAdmin` if it has one.
   * @default the user's `role` is "admin", `isAdmin` is true, or `roles` contains "admin"
   */
  readonly isAdmin?: boolean | undefined;
}

/** The result of a filter: a record with some of its keys, an array of filtered records, or `null`. */
export type FilteredFields<T> = T extends readonly (infer R)[]
  ? FilteredFields<R>[]
  : T extends object
    ? Partial<T>
    : T;

/** The parts of a filter. */
interface FieldFilter {
  readonly principal: Principal;
  /** Whether one of the rules passes. `record` is the record that they may read; undefined without a record. */
  readonly judge: (names: readonly string[], entity: AnyEntity, record: Row | undefined) => boolean;
  /** Applies a filter for single records to a record, an array or null. */
  apply(data: unknown, filter: (record: Row, entity: AnyEntity) => Row): unknown;
}

/**
 * Reads the arguments after the data: `(user)` or `(entity, options)`.
 * @param name of the calling function, for messages
 * @throws ConfigurationError, AuthenticationError
 */
export function createFieldFilter(
  name: string,
  kind: "read" | "create" | "update",
  subject: unknown,
  options: FieldFilterOptions | undefined,
): FieldFilter {
  const entity = entityArgument(name, subject, options);
  const principal =
    options === undefined ? principalOf(subject as User | null) : principalOf(options.user, options.isAdmin);

  function apply(data: unknown, filter: (record: Row, entity: AnyEntity) => Row): unknown {
    if (data === null || data === undefined) return data;
    if (Array.isArray(data)) return data.map((one) => apply(one, filter));
    if (typeof data !== "object" || isPromiseLike(data))
      throw new ConfigurationError(`${name} takes a record, an array of records or null`);
    // The entity from which a record was read takes precedence over the given one.
    const own = entityOfRecord(data) ?? entity;
    if (own === undefined)
      throw new ConfigurationError(
        `${name}(data, user) takes records of a handler's driver or of an operation, which know their entity. Records of a client, such as api.as(user), are plain copies, masked already; for these and other data say whose fields they are: ${name}(data, entity, { user })`,
      );
    return filter(data as Row, own);
  }
  return { principal, judge: createFieldJudge(principal, kind), apply };
}

function entityArgument(
  name: string,
  subject: unknown,
  options: FieldFilterOptions | undefined,
): AnyEntity | undefined {
  if (isEntityLike(subject)) {
    if (options !== undefined) return resolveEntity(subject) as AnyEntity;
    throw new ConfigurationError(
      `${name}(data, entity) does not say who asks; pass { user } as well, with null for anonymous callers`,
    );
  }
  if (options === undefined) return undefined;
  throw new ConfigurationError(`${name}(data, entity, { user }) takes an entity in second place`);
}

function isEntityLike(value: unknown): value is EntityLike {
  if (typeof value !== "object" || value === null) return false;
  return "build" in value ? typeof value.build === "function" : "columns" in value && "relations" in value;
}

/** @throws AuthenticationError for a user without a valid id, who is not even an anonymous caller */
function principalOf(user: User | null | undefined, isAdmin?: boolean): Principal {
  if (user === null || user === undefined) return ANONYMOUS;
  if (!isIdentified(user)) throw new AuthenticationError("The caller's identity is not valid");
  return { kind: "user", user, isAdmin: isAdmin === undefined ? defaultIsAdmin(user) : isAdmin === true };
}

/** The meaning of rule names outside of an app. */
const table = createRuleTable([], () => {});
/** Outside of an app there are no related records. A condition on them cannot be compiled, and so is not satisfied. */
const unrelated = createModel([]);

/**
 * Decides field rules synchronously, outside of an app, on the record alone. Undecidable rules deny: rules that return
 * a promise, throw, use the driver or a service, or read a column that the record does not have.
 */
function createFieldJudge(principal: Principal, kind: RuleContext["operation"]): FieldFilter["judge"] {
  const log = warnOnce();

  function passes(name: string, entity: AnyEntity, record: Row | undefined): boolean {
    const parts = partsOfAll(name);
    if (parts !== undefined) return parts.every((part) => passes(part, entity, record));
    const found = table.find(name, entity);
    if ("rule" in found) return judge(found.rule, entity, record);
    log.warn(`${entity.name}: ${found.problem}`, { rule: name, operation: kind });
    return false;
  }

  function judge(rule: Rule, entity: AnyEntity, record: Row | undefined): boolean {
    const subject: Reported = { kind, entity, scope: { app: { log }, requestId: undefined } };
    const seen = record && observe(entity, record);
    // As in an app, a `where` decides about stored records, and is evaluated without the record.
    const { where } = rule;
    const isListed = where !== undefined && kind !== "create";
    const context = new DetachedContext(principal, kind, entity, isListed ? null : seen?.record);
    let answer: unknown;
    try {
      answer = isListed ? where(context) : rule.evaluate(context);
    } catch (error) {
      if (!context.isMissingRecord) reportFailure(rule.name, subject, error);
      return false;
    }
    if (isPromiseLike(answer)) {
      answer.then(undefined, () => {}); // an unhandled rejection would end the process
      reportAnswer(rule.name, subject, "answers with a promise, and a filter does not wait");
      return false;
    }
    if (context.isMissingRecord) return false; // the rule caught the error and continued
    const holds = answer === true || (isWhere(answer) && seen !== undefined && satisfies(entity, answer, seen));
    return holds && (record === undefined || isComplete(entity, record, seen));
  }

  return (names, entity, record) => names.some((name) => passes(name, entity, record));
}

function satisfies(entity: AnyEntity, where: Where, { record }: Observation): boolean {
  if (Object.keys(where).length === 0) return false;
  try {
    const condition = compileWhere(unrelated, entity, where);
    return !isAlways(condition) && unaskable(condition) === undefined && matches(condition, record, () => []);
  } catch {
    return false;
  }
}

/**
 * Whether the record has valid values for all columns that a rule has read. A missing value is unknown, not empty, and
 * JavaScript would compare a list such as `["ann"]` like the text "ann".
 */
function isComplete(entity: AnyEntity, record: Row, seen: Observation | undefined): boolean {
  const isKnown = (name: string): boolean =>
    record[name] === null || !!entity.columns[name]?.kind.accepts(record[name]);
  return seen === undefined || [...seen.columns()].every(isKnown);
}

/** The process's logger, which logs each message only once. */
function warnOnce(): Reported["scope"]["app"]["log"] {
  const logger = safeLogger(getLogger());
  const said = new Set<string>();
  return {
    warn(message, meta) {
      if (said.has(message)) return;
      said.add(message);
      logger.warn(message, meta);
    },
  };
}

/** The context of rules outside of an app: without a driver, services and a request. */
class DetachedContext implements RuleContext {
  readonly user: RuleContext["user"];
  readonly isAdmin: boolean;
  readonly operation: RuleContext["operation"];
  readonly entity: AnyEntity;
  readonly request = undefined;
  readonly #record: Row | null | undefined;
  #isMissingRecord = false;

  constructor(
    { user, isAdmin }: Principal,
    operation: RuleContext["operation"],
    entity: AnyEntity,
    record: Row | null | undefined,
  ) {
    this.user = user;
    this.isAdmin = isAdmin;
    this.operation = operation;
    this.entity = entity;
    this.#record = record;
  }

  /** Whether the rule read a record that was not given. */
  get isMissingRecord(): boolean {
    return this.#isMissingRecord;
  }
  get record(): Row | null {
    if (this.#record !== undefined) return this.#record;
    this.#isMissingRecord = true;
    throw new UnavailableError("There is no record to look at");
  }
  get driver(): never {
    throw new UnavailableError("It needs the driver, and a filter has only the record");
  }
  get resolve(): never {
    throw new UnavailableError("It needs a service, and a filter has only the record");
  }
}
