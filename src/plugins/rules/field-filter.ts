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

/** On whose behalf fields are filtered. */
export interface FieldFilterOptions {
  /** Who asks; `null` for anonymous callers. */
  readonly user: User | null | undefined;
  /**
   * Whether they are an administrator. An app with an `isAdmin` of its own passes what it says.
   * @default the user's `role` is "admin", `isAdmin` is true, or `roles` contains "admin"
   */
  readonly isAdmin?: boolean | undefined;
}

/** What a filter leaves: of a record some keys, of an array each record filtered, `null` as it is. */
export type FilteredFields<T> = T extends readonly (infer R)[]
  ? FilteredFields<R>[]
  : T extends object
    ? Partial<T>
    : T;

/** What a filter was asked to do. */
interface FieldFilter {
  readonly principal: Principal;
  /** Whether any of some rules passes; `record` is what they may look at, undefined without a record. */
  readonly judge: (names: readonly string[], entity: AnyEntity, record: Row | undefined) => boolean;
  /** Applies a filter of records to a record, an array or null. */
  apply(data: unknown, filter: (record: Row, entity: AnyEntity) => Row): unknown;
}

/**
 * Reads the arguments after the data: `(user)` or `(entity, options)`.
 * @param name of the function, for its messages
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
    // The entity that a record was read from counts for more than the one the caller names.
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

/** An identity without a valid id identifies no caller, not even an anonymous one. */
function principalOf(user: User | null | undefined, isAdmin?: boolean): Principal {
  if (user === null || user === undefined) return ANONYMOUS;
  if (!isIdentified(user)) throw new AuthenticationError("The caller's identity is not valid");
  return { kind: "user", user, isAdmin: isAdmin === undefined ? defaultIsAdmin(user) : isAdmin === true };
}

/** What names mean where no app says otherwise. */
const table = createRuleTable([], () => {});
/** Without an app there are no related records: a condition on them cannot be compiled, and so does not hold. */
const unrelated = createModel([]);

/**
 * Decides field rules at once, outside every app, on nothing but the record. What that cannot tell is a no: a rule that
 * waits, throws, reaches for the driver or a service, or looks at a column the record does not have.
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
    // As in an app: a `where` decides about all stored records, and is asked without one.
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
      answer.then(undefined, () => {}); // an unheard rejection would end the process
      reportAnswer(rule.name, subject, "answers with a promise, and a filter does not wait");
      return false;
    }
    if (context.isMissingRecord) return false; // it looked, and went on regardless
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
 * Whether everything that was looked at is there: a missing value is unknown, not empty. Nor is `["ann"]` the text that
 * JavaScript compares it as.
 */
function isComplete(entity: AnyEntity, record: Row, seen: Observation | undefined): boolean {
  const isKnown = (name: string): boolean =>
    record[name] === null || !!entity.columns[name]?.kind.accepts(record[name]);
  return seen === undefined || [...seen.columns()].every(isKnown);
}

/** The process's logger; says a thing once, however many records it is true of. */
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

/** What a rule is given outside every app, where there is no driver, no service and no request. */
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

  /** Whether the rule looked at a record that was not given. */
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
