import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import type { EntityClient, OperationScope, Use } from "../../../gate/index.ts";
import type { Logger, User } from "../../../kernel/index.ts";
import type { WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { WorkflowResult, WorkflowStatus } from "../definition/workflow-result.ts";

/** The caller a run works for: a user, null for an anonymous caller, or the system. */
export type Caller = User | null | "system";

/** What a run is started with. */
export interface RunRequest {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  /** What `data` begins with, besides what the workflow says. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly caller: Caller;
  /** What the request asks of the record that it is about. @default nothing */
  readonly precondition?: OperationScope["precondition"];
  /** Notes what the answer of the request may show. */
  readonly shown?: OperationScope["shown"];
  /** What the action that it is the work of was allowed for. */
  readonly use?: Use | undefined;
  /** The run's id; a second run of the same id is the first one. @default a new one */
  readonly runId?: string | undefined;
}

/** A run that has begun. */
export interface RunHandle {
  readonly runId: string;
  /** How it ends. Rejects when this process cannot see to that: the journal is away, or another process has the run. */
  readonly result: Promise<WorkflowResult>;
}

/** What is known of a run. */
export interface RunReport {
  readonly id: string;
  readonly name: string;
  readonly status: WorkflowStatus;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  /** Id of the user it works for; null for an anonymous caller and for the system. */
  readonly userId: string | null;
  readonly failedStep?: string | undefined;
  /** What the failed step said; only code and message. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** Who may not use this action, of this record, is not told the result. @default they are */
  readonly use?: Use | undefined;
  /** What the last step gave, when it has completed. */
  readonly result?: unknown;
}

/** What an engine needs of the app. */
export interface EngineHost {
  readonly log: Logger;
  readonly entities: EntityModel;
  /** Workflows by name: what a run that is taken up goes on with. */
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /** Who a user is by now, when a run of theirs is taken up; null: there is no such user. @default as when it began */
  readonly userOf?: ((id: string) => User | null | Promise<User | null>) | undefined;
  runAs<T>(caller: Caller, work: (scope: OperationScope) => Promise<T>): Promise<T>;
  clientFor(scope: OperationScope): Readonly<Record<string, EntityClient<AnyEntity>>>;
}

/** Runs workflows, and goes on with those that a process left behind. One behaviour suite runs on every engine. */
export interface WorkflowEngine {
  readonly name: string;
  /** Whether it keeps runs in the app's database: the journal's entities are declared then. @default false */
  readonly usesJournal?: boolean | undefined;
  /** The app has started: runs that were left behind may be taken up. Does not wait for them. */
  start(host: EngineHost): void | Promise<void>;
  /**
   * Begins a run. Resolves when it is sure to be run, here or elsewhere.
   * @throws DatabaseUnavailableError when it cannot be recorded
   */
  run(request: RunRequest): Promise<RunHandle>;
  /** Undefined when there is no such run, or when the engine does not keep runs. */
  report(runId: string): Promise<RunReport | undefined>;
  /** Takes up no more runs. Runs in progress here end, or are left to another process. */
  stop(): Promise<void>;
}
