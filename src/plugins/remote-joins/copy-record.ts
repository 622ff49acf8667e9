import type { Row } from "../../kernel/index.ts";
import type { Answer } from "./check-records.ts";
import type { FetchPlan } from "./fetch-plan.ts";

/** A record that is whoever's asks for it, of one that several are given. */
export function copyRecord(record: Row, plan: FetchPlan): Row {
  const copy: Row = { ...record };
  for (let i = 0; i < plan.readers.length; i++) {
    const { name } = plan.readers[i] as FetchPlan["readers"][number];
    const value = copy[name];
    if (typeof value !== "object" || value === null) continue;
    copy[name] = value instanceof Date ? new Date(value) : structuredClone(value);
  }
  for (const { relation, plan: inner } of plan.nested) {
    const value = record[relation.name] as Answer | readonly Answer[];
    copy[relation.name] = isList(value) ? value.map((one) => copyAnswer(one, inner)) : copyAnswer(value, inner);
  }
  return copy;
}

/** What says why a record is missing is not changed by anybody. */
function copyAnswer(answer: Answer, plan: FetchPlan): Answer {
  return answer === null || answer instanceof Error ? answer : copyRecord(answer, plan);
}

function isList(value: Answer | readonly Answer[]): value is readonly Answer[] {
  return Array.isArray(value);
}
