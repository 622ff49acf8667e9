import type { Driver, OperationScope } from "../../gate/index.ts";
import type { Logger, User } from "../../kernel/index.ts";

/** What a workflow runs with: the context of a handler, an app's `resolve` together with a user, or a driver. */
export interface ExecuteOptions {
  readonly input?: unknown;
  /** What `data` begins with, besides what the workflow says. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** The scope of a handler's context: its caller, its driver and its transaction. @default none */
  readonly scope?: OperationScope | undefined;
  /** With a `scope`, only its own; in an app it is ignored. @default none: entity steps, and steps that use a driver, fail */
  readonly driver?: Driver | undefined;
  /** On whose behalf, where there is no `scope`. @default null, the anonymous caller */
  readonly user?: User | null | undefined;
  /** In an app: runs with the system's rights, so without rules. @default false */
  readonly asSystem?: boolean | undefined;
  /** Services. That of an app also makes the workflow run in this app. @default there are no services */
  readonly resolve?: (<T = unknown>(service: string) => T) | undefined;
  /** Gives the run up: the step that runs is waited for no longer, and what was done is taken back. */
  readonly signal?: AbortSignal | undefined;
  /** @default the app's logger, or the process-wide one */
  readonly log?: Logger | undefined;
}

/** What `runWorkflow` takes: what `executeWorkflow` takes, and the run's id. */
export interface RunOptions extends Omit<ExecuteOptions, "signal"> {
  /** The run's id: a second run of the same id is the first one. @default a new one */
  readonly runId?: string | undefined;
}
