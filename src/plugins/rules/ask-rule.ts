import { type Access, type AnyEntity, isKeelsonError, isPlainObject } from "../../entity/index.ts";
import {
  type Condition,
  compileWhere,
  type Decision,
  type Driver,
  forDecisions,
  type Guard,
  isAlways,
  type OperationKind,
  type OperationScope,
  type Row,
  visitCondition,
  type Where,
  withMiddleware,
} from "../../gate/index.ts";
import {
  describeError,
  isPromiseLike,
  type Logger,
  type Principal,
  UnavailableError,
  type User,
  withDeadline,
} from "../../kernel/index.ts";
import type { Rule, RuleContext } from "./rule.ts";

/** The subject of a decision: an operation, or the use of an endpoint. */
export interface Subject {
  readonly kind: OperationKind | "route";
  /** The access whose rules decide. @default the access of the kind */
  readonly access?: Access | undefined;
  readonly entity: AnyEntity | undefined;
  readonly principal: Principal;
  readonly scope: OperationScope;
  readonly decision?: Decision | undefined;
  /**
   * Set when a rule uses more than the caller's identity. An operation on several records is then decided for each of
   * them.
   */
  apart?: boolean | undefined;
}

/** The result of a rule: yes, no, a condition on records, or a guard that decides with the record. */
export type Outcome = boolean | Where | Guard;

/** A rule compiled for one entity and access. Returns a promise only if the rule does. */
export type Ask = (subject: Subject) => Outcome | Promise<Outcome>;

/** Stops a rule that reads the record before it is loaded. Never leaves this file. */
const recordNeeded = Object.freeze({ name: "RecordNeeded" });

const LOOKED_ON_LIST = "looks at `record`, which is null on lists; return a where or pass options.where";
const LOOKED_ON_ROUTE = "looks at `record`, which is null on endpoints";

/**
 * Compiles a rule for one entity and access. Each call first evaluates the rule without a record: if the rule does not
 * read it, the result holds for the whole statement. Whether it was read is not remembered, because then one caller's
 * request would decide whether another refused caller gets 403 or 404.
 */
export function compileRule(rule: Rule): Ask {
  const { name, where } = rule;
  let hasWarned = false;
  return (subject) => {
    const { kind } = subject;
    // For stored records, a `where` decides in the statement itself, without loading a record first.
    if (where !== undefined && kind !== "create" && kind !== "route") {
      const context = new Context(subject, () => null);
      return askRule(name, subject, () => where(context));
    }
    const hasRecord = kind !== "route" && kind !== "list" && kind !== "count";
    let looked = false;
    const context = new Context(subject, () => {
      looked = true;
      if (hasRecord) throw recordNeeded;
      return null;
    });
    return askRule(
      name,
      subject,
      () => rule.evaluate(context),
      (answer) => {
        if (looked && hasRecord) return (record) => decideOnRecord(rule, subject, record);
        if (!looked || isWhere(answer)) return toOutcome(name, subject, answer);
        const problem = kind === "route" ? LOOKED_ON_ROUTE : LOOKED_ON_LIST;
        if (subject.decision !== undefined) subject.decision.reason = `rule "${name}" ${problem}`;
        if (!hasWarned) reportAnswer(name, subject, problem);
        hasWarned = true;
        return false;
      },
    );
  };
}

async function decideOnRecord(rule: Rule, subject: Subject, record: Row): Promise<boolean | Where> {
  const context = new Context(subject, () => forDecisions(record));
  const outcome = await askRule(rule.name, subject, () => rule.evaluate(context));
  return typeof outcome === "function" ? false : outcome;
}

const made = new WeakMap<Driver, Driver>();

/** The driver that rules get. Reading a value that cannot be decrypted throws, instead of returning null. */
function decidingDriver(driver: Driver): Driver {
  const known = made.get(driver) ?? overlay(driver);
  made.set(driver, known);
  return known;
}

function overlay(inner: Driver): Driver {
  return withMiddleware(inner, async (statement, next) =>
    statement.kind === "find" ? (await next(statement)).map(forDecisions) : next(statement),
  );
}

/**
 * The context of a rule. It is a class, because one is made per rule and operation, and getters on a prototype cost a
 * tenth of getters on an object literal. `record` is a getter that notes whether a rule reads it.
 */
class Context implements RuleContext {
  readonly user: User | null;
  readonly isAdmin: boolean;
  readonly operation: OperationKind | "route";
  readonly entity: AnyEntity | undefined;
  readonly #subject: Subject;
  readonly #record: () => Row | null;

  constructor(subject: Subject, record: () => Row | null) {
    this.user = subject.principal.user;
    this.isAdmin = subject.principal.isAdmin;
    this.operation = whatIsDone(subject);
    this.entity = subject.entity;
    this.#subject = subject;
    this.#record = record;
  }

  get record(): Row | null {
    return this.#record();
  }
  // Results from the database or a service may change with each changed record, so records are then decided one by one.
  get driver(): Driver {
    this.#subject.apart = true;
    return decidingDriver(this.#subject.scope.driver);
  }
  get request(): unknown {
    return this.#subject.scope.exchange?.request.raw;
  }
  // A getter, because rules destructure `resolve`.
  get resolve(): <T = unknown>(id: string) => T {
    this.#subject.apart = true;
    return (id) => this.#subject.scope.services.resolve(id);
  }
}

/**
 * The operation that rules see. An action may read a record by the rules of update: for the rule that is an update, so
 * that a rule that passes for every read does not pass for it. Rules of create that are checked like a list see the use
 * of an endpoint, because no new record is about to get an owner.
 */
function whatIsDone({ kind, access = "read" }: Subject): OperationKind | "route" {
  if (access === "read") return kind;
  return access === "create" && kind === "list" ? "route" : access;
}

const kFailure: unique symbol = Symbol("failure");

/**
 * Calls a rule and interprets its result. Returns a promise only if the rule does; it is awaited for at most
 * `limits.ruleMs`. Never throws: a rule that throws denies.
 */
function askRule(
  name: string,
  subject: Subject,
  call: () => unknown,
  interpret: (answer: unknown) => Outcome = (answer) => toOutcome(name, subject, answer),
): Outcome | Promise<Outcome> {
  let answer: unknown;
  try {
    answer = call();
    if (!isPromiseLike(answer)) return interpret(answer);
  } catch (error) {
    return interpret({ [kFailure]: error });
  }
  const bounded = withDeadline(answer, subject.scope.app.limits.ruleMs, `Rule "${name}"`);
  return bounded.then(interpret, (error: unknown) => interpret({ [kFailure]: error }));
}

/**
 * Only strict `true` and a valid `where` pass. An empty `where` is refused, because it is more likely a mistake than
 * “all”.
 */
function toOutcome(name: string, subject: Subject, answer: unknown): Outcome {
  if (answer === true || answer === false) return answer;
  if (answer === null) return false;
  const refuse = (problem: string): false => {
    reportAnswer(name, subject, problem);
    return false;
  };
  if (!isPlainObject(answer)) return refuse("returned neither true, false nor a where");
  if (kFailure in answer) {
    reportFailure(name, subject, answer[kFailure]);
    return false;
  }
  const { entity, kind, scope } = subject;
  if (entity === undefined || kind === "route") return false;
  if (Object.keys(answer).length === 0) return refuse("returned an empty where; return true for all records");
  try {
    const condition = compileWhere(scope.app.model, entity, answer);
    if (isAlways(condition)) return refuse("returned a where that every record matches; return true for all records");
    const reason = unaskable(condition);
    if (reason !== undefined) return refuse(`returned a where that cannot be used (${reason})`);
  } catch (error) {
    return refuse(`returned a where that cannot be used (${isKeelsonError(error) ? error.message : "not plain data"})`);
  }
  return answer;
}

/** Whether a rule returned a `where`. */
export function isWhere(answer: unknown): answer is Where {
  return isPlainObject(answer) && !(kFailure in answer);
}

/** Why a rule must not use a condition; undefined if it may. */
export function unaskable(condition: Condition): string | undefined {
  let reason: string | undefined;
  visitCondition(condition, (leaf) => {
    if (leaf.op !== "compare" || leaf.value === null) return;
    const { name, role, of, field } = leaf.column;
    if (field?.encrypted?.searchable === false)
      reason ??= `"${name}" is encrypted; only .encrypted({ searchable: true }) can be compared`;
    // The words of a new or changed value are known only once it is stored.
    if (role === "words") reason ??= `search on "${of}" is for queries; use like in rules`;
  });
  return reason;
}

/** The part of a subject that is logged. */
export interface Reported extends Pick<Subject, "entity" | "kind"> {
  readonly scope: { readonly app: { readonly log: Pick<Logger, "warn"> }; readonly requestId: string | undefined };
}

/** Log data about a rule: where it was used, without any values. */
function facts(name: string, { entity, kind, scope }: Reported): Record<string, unknown> {
  return { rule: name, entity: entity?.name, operation: kind, requestId: scope.requestId };
}

/** Logs that a rule returned an invalid result. */
export function reportAnswer(name: string, subject: Reported, problem: string): void {
  subject.scope.app.log.warn(`Rule "${name}" ${problem}; it denies`, facts(name, subject));
}

/** Logs that a rule threw, or took too long. */
export function reportFailure(name: string, subject: Reported, error: unknown): void {
  subject.scope.app.log.warn(`Rule "${name}" failed; it denies`, { ...facts(name, subject), ...describe(error) });
}

function describe(error: unknown): Record<string, unknown> {
  if (error instanceof UnavailableError) return { error: error.message };
  const { stack, ...known } = describeError(error, 0);
  return Array.isArray(stack) ? { ...known, at: stack[0] } : known;
}
