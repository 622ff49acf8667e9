/** An action whose handler returns records that it read itself, in the form that a step requests. */
import type { ActionContext, Rule } from "keelson";
import { library as k } from "./library.ts";
import type { Handling, ReportModel, RuleModel } from "./model.ts";
import { type HandlerCall, runCall } from "./run-call.ts";

/** The input of the handler. */
export interface ReportInput {
  readonly from: "record" | "driver" | "client";
  readonly entity: string;
  readonly where?: Record<string, unknown>;
  readonly one?: true;
  readonly select?: readonly string[];
  readonly inTransaction?: true;
  readonly call?: HandlerCall;
  readonly handling: Handling;
  /** The columns that the copies overwrite. */
  readonly claims: Record<string, unknown>;
}

type Within = Pick<ActionContext, "client" | "driver" | "record" | "transaction">;
type Found = Record<string, unknown>;

async function read(context: Within, input: ReportInput): Promise<Found | Found[] | null> {
  const { from, entity, where, select } = input;
  if (from === "record") return context.record as Found | null;
  if (from === "client") {
    const found = await runCall(context.client(entity as never) as never, input.call as HandlerCall);
    return input.call?.do === "list" ? (found as { data: Found[] }).data : (found as Found);
  }
  if (input.inTransaction)
    return context.transaction((inner) => read(inner as Within, { ...input, inTransaction: undefined as never }));
  const options = select === undefined ? {} : { select };
  if (input.one) return context.driver.findOne(entity, where as Found, options);
  return context.driver.findMany(entity, { ...options, where: where as Found });
}

export function reportAction(report: ReportModel, ruleOf: (rule: RuleModel) => Rule | string): unknown {
  const plain = report.method === "GET" ? k.action().get() : k.action().post();
  const placed = report.onResource ? plain.onResource() : plain;
  const ruled = report.rules === undefined ? placed : placed.rules(...report.rules.map(ruleOf));
  return ruled.query({ read: k.text }).handler(async (context) => {
    const input = JSON.parse((context.query as { read: string }).read) as ReportInput;
    const found = await read(context as unknown as Within, input);
    const changed = (one: Found): Found => {
      if (input.handling === "copied") return { ...one };
      return input.handling === "claimed" ? { ...one, ...input.claims } : one;
    };
    const given = Array.isArray(found) ? found.map(changed) : found && changed(found);
    return { result: input.handling === "nested" ? [{ deep: { er: given } }] : given };
  });
}
