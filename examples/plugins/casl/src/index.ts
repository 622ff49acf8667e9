// CASL decides what callers may do, in place of the rules of entities.
import type { MongoAbility, MongoQuery } from "@casl/ability";
import { rulesToCondition } from "@casl/ability/extra";
import { type AnyEntity, createPluginFactory, type OperationScope, type User, type Where } from "keelson/plugin";

/** Options of {@link casl}. */
export interface CaslOptions {
  /** The ability of a caller; null is anonymous. Actions: create, read, update, delete; subjects: names of entities. */
  abilityFor(user: User | null): MongoAbility;
}

/** `keelson({ plugins: (defaults) => defaults.replace("rules", casl({ abilityFor })) })` */
export const casl = createPluginFactory<CaslOptions>(({ abilityFor }) => ({
  id: "example/casl",
  provides: ["rules"],
  setup({ records, hooks, problem }) {
    if (abilityFor === undefined) return problem("casl: `abilityFor` says what a caller may do");
    records.policy({
      name: "casl",
      allows({ access, entity, rules, principal, decision }) {
        if (rules !== undefined) {
          decision.allowed = passes(rules, principal);
          return;
        }
        const found = conditionsOf(abilityFor(principal.user), access, entity);
        decision.allowed = found !== null;
        if (found !== null && Object.keys(found).length > 0) decision.predicate = found;
      },
    });
    hooks.on("access:mask", (draft) => {
      const { entity, mask, principal } = draft;
      if (principal.kind === "system") return;
      const ability = abilityFor(principal.user);
      const [read, create, update] = ["read", "create", "update"].map((access) =>
        fieldsOf(ability, access, entity.name, Object.keys(entity.columns)),
      ) as [Fields, Fields, Fields];
      const keep = (names: ReadonlySet<string>, ...lists: readonly Fields[]): ReadonlySet<string> =>
        new Set([...names].filter((name) => name === "id" || lists.every((fields) => fields?.has(name) ?? true)));
      draft.mask = {
        ...mask,
        readable: keep(mask.readable, read ?? NONE),
        filterable: keep(mask.filterable, read ?? NONE),
        sortable: keep(mask.sortable, read ?? NONE),
        writable: keep(mask.writable, create, update),
      };
    });
    hooks.on("route:authorize", (asked) => {
      asked.allowed = passes(asked.rules, asked.scope.principal);
    });
  },
}));

/** Rules of an action or a route itself: `everyone` and `authenticated`; all others pass only for admins. */
const passes = (rules: readonly unknown[], { kind, isAdmin }: OperationScope["principal"]): boolean =>
  rules.some((rule) => rule === "everyone" || isAdmin || (rule === "authenticated" && kind === "user"));

/** Fields that an ability allows; undefined if it does not allow the action at all. */
type Fields = ReadonlySet<string> | undefined;
const NONE: ReadonlySet<string> = new Set();

/**
 * The mask of a caller is the same for all records. It contains the fields that a rule without conditions allows, or
 * that all rules with conditions allow, except the fields that any rule forbids.
 */
function fieldsOf(ability: MongoAbility, access: string, name: string, all: readonly string[]): Fields {
  const rules = ability.rulesFor(access, name);
  const given = rules.filter(({ inverted }) => !inverted);
  if (given.length === 0) return undefined;
  const fields = given.map((rule) => ({ isAlways: rule.conditions === undefined, own: rule.fields ?? all }));
  const taken = rules.filter(({ inverted }) => inverted).flatMap((rule) => rule.fields ?? []);
  const isGiven = (field: string): boolean =>
    fields.some(({ isAlways, own }) => isAlways && own.includes(field)) ||
    fields.every(({ own }) => own.includes(field));
  return new Set(all.filter((field) => isGiven(field) && !taken.includes(field)));
}

/** The records that an ability allows: null for none, no conditions for all. */
function conditionsOf(ability: MongoAbility, access: string, { name }: AnyEntity): Where | null {
  const convert = ({ conditions, inverted }: ReturnType<MongoAbility["rulesFor"]>[number]): Where => {
    const where = conditions === undefined ? {} : whereOf(conditions);
    return inverted ? { NOT: where } : where;
  };
  return rulesToCondition(ability.rulesFor(access, name), convert, {
    and: (all): Where => ({ AND: all }),
    or: (some): Where => ({ OR: some }),
    empty: (): Where => ({}),
  });
}

const OPERATORS: Readonly<Record<string, string>> = { $in: "in", $gt: "gt", $gte: "gte", $lt: "lt", $lte: "lte" };

/** A condition of CASL as a `where`. @throws Error for an operator without a counterpart */
function whereOf(conditions: MongoQuery): Where {
  const fields = Object.entries(conditions).map(([name, test]): Where => {
    if (typeof test !== "object" || test === null) return { [name]: test };
    const parts = Object.entries(test).map(([operator, value]): Where => {
      if (operator === "$eq") return { [name]: value };
      if (operator === "$ne") return { NOT: { [name]: value } };
      const known = OPERATORS[operator];
      if (known === undefined) throw new Error(`casl: the operator ${operator} of "${name}" cannot be used here`);
      return { [name]: { [known]: value } };
    });
    return { AND: parts };
  });
  return { AND: fields };
}
