import type { AnyEntity } from "../../entity/index.ts";
import { type Hook, runHooks, withDeadline } from "../../kernel/index.ts";
import { allOf, allPresent } from "../condition/compile-where.ts";
import type { Row, Where } from "../condition/where.ts";
import type { Guard } from "./mask.ts";
import type { Decision, Operation, OperationKind, OperationQuery } from "./operation.ts";

/** What a policy is asked about: who does what to which entity. It sees neither conditions nor data. */
export interface PolicyQuestion
  extends Pick<
    Operation,
    "kind" | "access" | "rules" | "entity" | "principal" | "scope" | "decision" | "apart" | "require"
  > {
  /** Whether deleted records are wanted. */
  readonly query: Pick<OperationQuery, "deleted">;
}

/**
 * Says what callers may do, whatever they ask for, so that the answer holds for lists, includes, counts, exports and writes of
 * several records alike. Several policies combine by AND: none widens another.
 */
export interface Policy {
  /** For messages. */
  readonly name: string;
  /** Asked once per pair when the app starts. @default all entities and kinds */
  appliesTo?(entity: AnyEntity, kind: OperationKind): boolean;
  /**
   * Decides, or narrows the records to those that a rule lets through: sets `decision`, which denies at first. The system is
   * not asked about. An app in which no policy and no hook decides denies everything.
   */
  allows?(question: PolicyQuestion): void | Promise<void>;
  /** Says with `require` which records there are at all, for the system, too. Not on create. */
  visible?(question: PolicyQuestion): void | Promise<void>;
}

/** What decides about operations of one entity and kind. */
interface Deciders {
  readonly policies: readonly Policy[];
  readonly authorize: readonly Hook<Operation>[];
}

/** Asks policies, then hooks, whether an operation is allowed; a promise only where one of them waits. */
export function askAllowed({ policies, authorize }: Deciders, operation: Operation): void | Promise<void> {
  const asked = askPolicies(policies, operation);
  if (authorize.length === 0) return asked;
  return asked === undefined ? runHooks(authorize, operation) : asked.then(() => runHooks(authorize, operation));
}

/** Asks policies which records there are for an operation. */
export async function askVisible(policies: readonly Policy[], operation: Operation): Promise<void> {
  for (const policy of policies) await bounded(policy, policy.visible?.(operation), operation);
}

function bounded({ name }: Policy, asked: void | Promise<void>, { scope }: Operation): void | Promise<void> {
  return asked === undefined ? undefined : withDeadline(asked, scope.limits.hookMs, `Policy "${name}"`);
}

function askPolicies(policies: readonly Policy[], operation: Operation): undefined | Promise<void> {
  const [first, ...others] = policies;
  if (first === undefined) return undefined;
  const asked = bounded(first, first.allows?.(operation), operation);
  return others.length === 0 ? asked || undefined : askOthers(asked, others, operation);
}

async function askOthers(asked: void | Promise<void>, others: readonly Policy[], operation: Operation): Promise<void> {
  await asked;
  const { decision } = operation;
  for (const policy of others) {
    if (!decision.allowed) return;
    const own: Decision = { allowed: false };
    const question: PolicyQuestion = Object.create(operation, { decision: { value: own } });
    await bounded(policy, policy.allows?.(question), operation);
    if (question.apart) operation.apart = true;
    Object.assign(decision, both({ ...decision }, own));
  }
}

/** What two decisions allow together. */
function both(one: Decision, other: Decision): Decision {
  const rules = [...(one.rules ?? []), ...(other.rules ?? [])];
  if (!one.allowed || !other.allowed) return { allowed: false, predicate: undefined, guard: undefined, rules };
  const needsGuard = one.guard !== undefined || other.guard !== undefined;
  const isForGuards = [one, other].some(({ predicate, guard }) => predicate === undefined && guard !== undefined);
  return {
    allowed: true,
    predicate: isForGuards ? undefined : allPresent(one.predicate, other.predicate),
    guard: needsGuard ? guardOf(one, other) : undefined,
    rules,
  };
}

function guardOf(one: Decision, other: Decision): Guard {
  return async (record) => {
    const left = await conditionOf(one, record);
    if (left === false) return false;
    const right = await conditionOf(other, record);
    if (left === true || right === false) return right;
    return right === true ? left : allOf(left, right);
  };
}

/** What a decision says of a record: yes, no, or where it meets a condition. */
async function conditionOf({ predicate, guard }: Decision, record: Row): Promise<boolean | Where> {
  if (guard === undefined) return predicate ?? true;
  const answer = await guard(record);
  if (answer === true || predicate === undefined) return answer;
  return answer === false ? predicate : { OR: [predicate, answer] };
}
