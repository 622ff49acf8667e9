/** Shrinks a counter-example while it still fails: fewer steps, rows, rules, fields, entities. */
import { isShared, TENANT_FIELD } from "./companions.ts";
import type { DatabaseName } from "./database.ts";
import { openDatabases } from "./database.ts";
import { type Found, withApp } from "./explore.ts";
import type { Features } from "./features.ts";
import {
  type Condition,
  type EntityModel,
  entityOf,
  keyOf,
  keysOf,
  type Model,
  type ReportModel,
  type RuleModel,
  relationOf,
  type Scenario,
  type Step,
} from "./model.ts";
import { type Finding, runScenario } from "./run-scenario.ts";

type Least = { readonly scenario: Scenario; readonly finding: Finding };

export async function shrink(found: Found, database: DatabaseName, features: Features): Promise<Least> {
  const databases = await openDatabases(database);
  const { call: cause } = found.finding.step;
  const attempt = async (scenario: Scenario): Promise<Least | undefined> => {
    if (!isSound(scenario)) return undefined;
    try {
      return await withApp(databases, scenario.model, features, async (app, opened) => {
        const { steps, finding } = await runScenario(
          app,
          opened,
          scenario.model,
          scenario.data,
          (_, at) => scenario.steps[at],
        );
        // The same kind of step must fail: another kind is another finding.
        if (finding === undefined || finding.step.call.do !== cause.do) return undefined;
        return { scenario: { ...scenario, steps }, finding };
      });
    } catch {
      return undefined; // a model that does not start, or rows that do not fit
    }
  };
  try {
    let least: Least = found;
    const until = Date.now() + 120_000;
    for (let isSmaller = true; isSmaller && Date.now() < until; ) {
      isSmaller = false;
      for (const candidates of [withoutSteps, withoutRows, withoutParts]) {
        for (let at = 0; Date.now() < until; ) {
          const candidate = candidates(least.scenario)[at];
          if (candidate === undefined) break;
          const smaller = await attempt(candidate);
          if (smaller === undefined) at += 1;
          else {
            least = smaller;
            isSmaller = true;
          }
        }
      }
    }
    return least;
  } finally {
    await databases.close();
  }
}

/** Whether all rules, validators and reads of handlers use existing columns and relations. */
function isSound({ model, steps }: Scenario): boolean {
  const meets = (entity: EntityModel, of: Condition): boolean => {
    if (of.is === "not") return meets(entity, of.of);
    if (of.is === "related") {
      const relation = relationOf(entity, of.relation);
      return relation !== undefined && meets(entityOf(model, relation.target), of.matches);
    }
    if (of.is !== "column") return of.of.every((one) => meets(entity, one));
    return columnsOf(entity).includes(of.column);
  };
  const reads = ({ call }: Step): boolean => {
    if (call.do !== "report" || call.read.from === "record") return true;
    const { entity: name } = call.read;
    const entity = model.entities.find((one) => one.name === name);
    if (entity === undefined || call.read.from === "client") return entity !== undefined;
    const { where, select = [] } = call.read;
    return meets(entity, where) && select.every((column) => columnsOf(entity).includes(column));
  };
  const fits = (entity: EntityModel, rule: RuleModel): boolean => {
    if (rule.rule === "all") return rule.of.every((one) => fits(entity, one));
    if (rule.rule === "where") return meets(entity, rule.where);
    if (rule.rule === "record") return meets(entity, rule.test);
    return rule.rule !== "guarded" || (meets(entity, rule.test) && meets(entity, rule.where));
  };
  const isKept =
    !isShared(model) || model.entities.every(({ fields }) => fields.some(({ name }) => name === TENANT_FIELD));
  const isModelSound =
    isKept &&
    model.entities.every(
      (entity) =>
        [
          ...Object.values(entity.rules).flat(),
          ...(entity.report?.rules ?? []),
          ...entity.fields.flatMap(({ readable = [], writable = [] }) => [...readable, ...writable]),
        ].every((rule) => fits(entity, rule)) &&
        entity.validators.every(({ holds }) => meets(entity, holds)) &&
        entity.fields.every(({ computedFrom = "id" }) => columnsOf(entity).includes(computedFrom)),
    );
  return isModelSound && steps.every(reads);
}

const columnsOf = (entity: EntityModel): string[] => [
  "id",
  ...entity.fields.map(({ name }) => name),
  ...keysOf(entity).map(keyOf),
];

const without = <T>(list: readonly T[], at: number, count = 1): T[] => [
  ...list.slice(0, at),
  ...list.slice(at + count),
];

function withoutSteps(scenario: Scenario): Scenario[] {
  const { steps } = scenario;
  const last = steps.length - 1;
  const halves =
    last > 4
      ? [without(steps, 0, last), without(steps, 0, Math.ceil(last / 2)), without(steps, last >> 1, last - (last >> 1))]
      : [];
  return [...halves, ...steps.slice(0, last).map((_, at) => without(steps, last - 1 - at))].map((fewer) => ({
    ...scenario,
    steps: fewer,
  }));
}

function withoutRows(scenario: Scenario): Scenario[] {
  const { data } = scenario;
  const rows = Object.entries(data.rows).flatMap(([name, list]) =>
    list.map((row, at) => ({
      ...scenario,
      data: {
        rows: { ...data.rows, [name]: without(list, at) },
        pairs: Object.fromEntries(
          Object.entries(data.pairs).map(([side, pairs]) => [
            side,
            pairs.filter((pair) => !pair.split("|").includes(row.id as string)),
          ]),
        ),
      },
    })),
  );
  const pairs = Object.entries(data.pairs).flatMap(([side, list]) =>
    list.map((_, at) => ({ ...scenario, data: { ...data, pairs: { ...data.pairs, [side]: without(list, at) } } })),
  );
  return [...rows, ...pairs];
}

/** Models with one part removed, together with its rows and steps. */
function withoutParts(scenario: Scenario): Scenario[] {
  const { model, data, steps } = scenario;
  const replaced = (name: string, change: (entity: EntityModel) => EntityModel): Model => ({
    entities: model.entities.map((one) => (one.name === name ? change(one) : one)),
  });
  const out: Scenario[] = [];
  for (const entity of model.entities) {
    const { name } = entity;
    const used =
      steps.some(({ on }) => on === name) ||
      model.entities.some((one) => one !== entity && one.relations.some(({ target }) => target === name));
    if (!used) {
      const { [name]: _, ...rows } = data.rows;
      const pairs = Object.fromEntries(Object.entries(data.pairs).filter(([at]) => !at.startsWith(`${name}.`)));
      out.push({ model: { entities: model.entities.filter((one) => one !== entity) }, data: { rows, pairs }, steps });
    }
    const same = (change: (entity: EntityModel) => EntityModel): void => {
      out.push({ ...scenario, model: replaced(name, change) });
    };
    if (entity.validators.length > 0) same((one) => ({ ...one, validators: [] }));
    if (entity.minGroup)
      same((one) => {
        const { minGroup: _, ...rest } = one;
        return rest;
      });
    if (entity.hideForbidden)
      same((one) => {
        const { hideForbidden: _, ...rest } = one;
        return rest;
      });
    if (entity.actions.length > 0)
      same((one) => ({
        ...one,
        actions: one.actions.filter((action) => steps.some(({ call }) => call.do === action)),
      }));
    if (entity.report !== undefined && !steps.some(({ on, call }) => on === name && call.do === "report"))
      same(({ report: _, ...rest }) => rest);
    entity.report?.rules?.forEach((_, at) => {
      same((one) => ({
        ...one,
        report: { ...entity.report, rules: without(entity.report?.rules ?? [], at) } as ReportModel,
      }));
    });
    for (const [access, list] of Object.entries(entity.rules))
      list?.forEach((rule, at) => {
        same((one) => ({ ...one, rules: { ...one.rules, [access]: without(list, at) } }));
        if (rule.rule === "all")
          for (const part of rule.of)
            same((one) => ({
              ...one,
              rules: { ...one.rules, [access]: list.map((other) => (other === rule ? part : other)) },
            }));
        if (rule.rule !== "everyone")
          same((one) => ({ ...one, rules: { ...one.rules, [access]: [{ rule: "everyone" as const }] } }));
      });
    entity.fields.forEach((field, at) => {
      out.push({
        model: replaced(name, (one) => ({ ...one, fields: without(one.fields, at) })),
        data: {
          ...data,
          rows: {
            ...data.rows,
            [name]: (data.rows[name] ?? []).map(({ [field.name]: _, ...rest }) => rest),
          },
        },
        steps: withoutColumn(scenario, name, field.name),
      });
      for (const modifier of ["readable", "writable", "unique", "encrypted", "omit", "password", "readonly"] as const)
        if (field[modifier] !== undefined)
          same((one) => ({
            ...one,
            fields: one.fields.map((other) => {
              if (other !== field) return other;
              const { [modifier]: _, ...rest } = other;
              return rest;
            }),
          }));
    });
    entity.relations.forEach((relation, at) => {
      const column = `${relation.name}${relation.kind === "manyToMany" ? "Ids" : "Id"}`;
      const pairs = Object.fromEntries(
        Object.entries(data.pairs).filter(([side]) => side !== `${name}.${relation.name}`),
      );
      const rows = (data.rows[name] ?? []).map(({ [column]: _, ...rest }) => rest);
      // The list on the other side is removed together with the key.
      const others = replaced(name, (one) => ({ ...one, relations: without(one.relations, at) })).entities.map(
        (one) => ({
          ...one,
          relations: one.relations
            .filter(
              (other) => !(other.target === name && other.inverse === relation.name && other.kind !== "manyToMany"),
            )
            .map((other) => {
              if (!(other.target === name && other.inverse === relation.name)) return other;
              const { inverse: _, ...rest } = other;
              return rest;
            }),
        }),
      );
      out.push({
        model: { entities: others },
        data: { rows: { ...data.rows, [name]: rows }, pairs },
        steps: withoutColumn(scenario, name, column),
      });
    });
  }
  steps.forEach((step, index) => {
    const { call } = step;
    const change = (next: object): void => {
      out.push({
        ...scenario,
        steps: steps.map((one, at) => (at === index ? ({ ...step, call: { ...call, ...next } } as typeof step) : one)),
      });
    };
    if ("data" in call)
      for (const column of Object.keys(call.data)) {
        const { [column]: _, ...rest } = call.data;
        change({ data: rest });
      }
    if ("include" in call && call.include) change({ include: undefined });
    if ("query" in call)
      for (const part of Object.keys(call.query)) {
        const { [part]: _, ...rest } = call.query as Record<string, unknown>;
        change({ query: rest });
      }
    if (call.do === "import") call.rows.forEach((_, at) => void change({ rows: without(call.rows, at) }));
    if (call.do === "batch") call.items.forEach((_, at) => void change({ items: without(call.items, at) }));
    if ("ids" in call) call.ids.forEach((_, at) => void change({ ids: without(call.ids, at) }));
    if (step.surface !== "http")
      out.push({ ...scenario, steps: steps.map((one) => (one === step ? { ...one, surface: "http" as const } : one)) });
  });
  return out;
}

function withoutColumn({ steps }: Scenario, entity: string, column: string): Scenario["steps"] {
  return steps.map((step) => {
    const { call } = step;
    if (step.on !== entity || !("data" in call)) return step;
    const { [column]: _, ...data } = call.data;
    return { ...step, call: { ...call, data } };
  });
}
