import type { RemoteService, Tracer } from "../../kernel/index.ts";
import { createBreakers } from "./breakers.ts";
import { type Answer, checkRecords } from "./check-records.ts";
import type { Deadline } from "./deadline.ts";
import { failAll } from "./fail-all.ts";
import type { FetchPlan } from "./fetch-plan.ts";
import type { Gate } from "./gate.ts";
import { toFailure } from "./remote-failure.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import type { StitchContext } from "./stitch-context.ts";

/** What is asked of a service, whatever the ids. */
export interface Question {
  /** Of the service. */
  readonly name: string;
  readonly service: RemoteService;
  readonly plan: FetchPlan;
  readonly caller: StitchContext["caller"];
  readonly tracer: Tracer | undefined;
  readonly deadline: Deadline;
  readonly gate: Gate;
}

/** Asks about some ids in one call; one answer per id, in their order. Never rejects. */
export type AskBatch = (question: Question, ids: readonly string[]) => Promise<readonly Answer[]>;

/** What asks the services of one app in batches: it knows which of them fail. */
export function createAskBatch(settings: JoinSettings): AskBatch {
  const breakerOf = createBreakers(settings);
  return async (question, ids) => {
    const { name, deadline, gate } = question;
    const breaker = breakerOf(name);
    const inTurn = async (): Promise<readonly Answer[]> => {
      // What waited until its time was over is not begun, and says nothing about the service.
      if (deadline.failure !== undefined) throw deadline.failure;
      return await breaker(() => fetchRecords(question, ids, settings), deadline);
    };
    try {
      return await deadline.within(gate(inTurn));
    } catch (error) {
      return failAll(ids, toFailure(error, name));
    }
  };
}

/** @throws RemoteFailure */
async function fetchRecords(
  { name, service, plan, caller, deadline, tracer }: Question,
  ids: readonly string[],
  { maxRecordBytes }: JoinSettings,
): Promise<readonly Answer[]> {
  const { entity, include, select } = plan;
  const { signal } = deadline;
  // Copies: a service may sort what it is given.
  const options = { select: [...select], signal, ...(include && { include }), ...(caller && { caller }) };
  try {
    const fetch = async (traceHeaders?: Readonly<Record<string, string>>): Promise<readonly unknown[]> =>
      service.fetchByIds(entity.name, [...ids], traceHeaders === undefined ? options : { ...options, traceHeaders });
    const called = tracer === undefined ? fetch() : tracer.remote({ service: name, entity: entity.name }, fetch);
    const returned = await deadline.within(called);
    return checkRecords(returned, ids, plan, maxRecordBytes);
  } catch (error) {
    throw toFailure(error, name);
  }
}
