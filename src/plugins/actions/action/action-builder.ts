import {
  type ActionFields,
  type ActionMeta,
  type ActionTypes,
  type BuiltAction,
  ConfigurationError,
  type InferFieldInput,
  type InferFieldValues,
  type Metadata,
  type RuleRef,
} from "../../../entity/index.ts";
import type { WorkflowRunner } from "../../../gate/index.ts";
import { type ActionContext, type ActionDefinition, type ActionRecord, noHandler } from "./action-definition.ts";
import { Accepted, allowedUse } from "./create-context.ts";

/** `Prefer: respond-async` (RFC 7240): an answer before the work is done. */
const ASYNC = /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i;

/** The handler of an action that is a workflow. */
async function runWorkflowAction(context: ActionContext): Promise<unknown> {
  const { entity, action, input, params, query, scope, headers, root, resolve } = context;
  const runner = resolve<WorkflowRunner>("workflows.runner");
  const data = { params, query };
  const begun = await runner.run(`${entity.name}.${action}`, input, data, scope, allowedUse(context));
  const { runId, result, isRemembered } = begun;
  // The report of a run is for the caller who started it: an anonymous caller has to wait.
  const canAsk = isRemembered && scope.principal.kind !== "anonymous";
  if (!canAsk || !ASYNC.test(headers.get("prefer") ?? "")) return result();
  const location = `${root}/workflow-runs/${runId}`;
  return new Accepted({ runId, status: "running", location }, { location, "preference-applied": "respond-async" });
}

/** A step of a workflow, as far as an action knows. */
export interface WorkflowStepLike {
  readonly name: string;
}

/**
 * A workflow, as far as an action knows.
 * @typeParam TInput what its steps know of the input
 */
export interface WorkflowOfSteps<TInput = unknown> {
  readonly steps: readonly WorkflowStepLike[];
  /** Type-level only. */
  readonly $takes?: TInput;
}

/** No workflow has this property: one that asks for more than the action's input declares is refused. */
type TakesInput<TGiven, TInput> = unknown extends TGiven
  ? unknown
  : [TGiven] extends [TInput]
    ? unknown
    : { readonly "the action declares another input": TInput };

/** Types that an action has gathered so far. */
export interface ActionShape {
  readonly input: unknown;
  readonly query: unknown;
  readonly given: unknown;
  readonly output: unknown;
  readonly resource: boolean;
}

type With<S extends ActionShape, C extends Partial<ActionShape>> = {
  readonly [K in keyof ActionShape]: K extends keyof C ? C[K] : S[K];
} & ActionShape;

type Both<A, B> = [A] extends [undefined] ? B : A & B;
type TypesOf<S extends ActionShape> = { given: S["given"]; output: S["output"]; resource: S["resource"] };
type ContextOf<S extends ActionShape> = ActionContext<
  S["input"],
  S["query"],
  S["resource"] extends true ? ActionRecord : null
>;

/** The types of an action whose input and query are not declared. */
export interface PlainShape<TOutput = unknown, TResource extends boolean = false, TGiven = undefined>
  extends ActionShape {
  readonly input: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly given: TGiven;
  readonly output: TOutput;
  readonly resource: TResource;
}

/** Builds an action; each method returns a new one, and every one of them can be attached. */
export class ActionBuilder<S extends ActionShape = PlainShape> implements BuiltAction<TypesOf<S>> {
  readonly definition: ActionDefinition;
  /** Type-level only. */
  declare readonly $action?: TypesOf<S> & ActionTypes;

  constructor(definition: ActionDefinition) {
    this.definition = Object.freeze(definition);
    Object.freeze(this);
  }

  #with<T extends ActionShape = S>(change: Partial<ActionDefinition>): ActionBuilder<T> {
    return new ActionBuilder<T>({ ...this.definition, ...change });
  }

  get(): ActionBuilder<S> {
    return this.method("GET");
  }
  post(): ActionBuilder<S> {
    return this.method("POST");
  }
  put(): ActionBuilder<S> {
    return this.method("PUT");
  }
  patch(): ActionBuilder<S> {
    return this.method("PATCH");
  }
  delete(): ActionBuilder<S> {
    return this.method("DELETE");
  }
  /** @default "POST" */
  method(method: string): ActionBuilder<S> {
    return this.#with({ method });
  }
  /** Path below the entity's, such as `/publish`. @default the action's name */
  path(path: string): ActionBuilder<S> {
    return this.#with({ path });
  }
  /** About one record: under `/:id/`, with the record loaded and authorized. */
  onResource(): ActionBuilder<With<S, { resource: true }>> {
    return this.#with<With<S, { resource: true }>>({ onResource: true });
  }
  /** Rules of its own in place of inherited ones; any of them passes. */
  rules(...rules: readonly RuleRef[]): ActionBuilder<S> {
    return this.#with({ rules });
  }
  /** Fields of the body; what is not among them is refused. */
  input<const F extends ActionFields>(
    fields: F,
  ): ActionBuilder<With<S, { input: InferFieldValues<F>; given: Both<S["given"], InferFieldInput<F>> }>> {
    return this.#with({ input: fields });
  }
  /** Query parameters; what is not among them is refused. */
  query<const F extends ActionFields>(
    fields: F,
  ): ActionBuilder<With<S, { query: InferFieldValues<F>; given: Both<S["given"], InferFieldInput<F>> }>> {
    return this.#with({ query: fields });
  }
  /** Fields of the answer: others are left out of it, and values that do not fit are an error of the handler. */
  output<const F extends ActionFields>(fields: F): ActionBuilder<With<S, { output: InferFieldValues<F> }>> {
    return this.#with<With<S, { output: InferFieldValues<F> }>>({ output: fields });
  }
  /** What documentation says about it, or a value for a plugin, which finds it in `meta` of the action's route. */
  meta(meta: ActionMeta): ActionBuilder<S>;
  meta<K extends keyof Metadata>(key: K, value: Metadata[K]): ActionBuilder<S>;
  meta(given: ActionMeta | keyof Metadata, value?: unknown): ActionBuilder<S> {
    const added = typeof given === "object" ? given : { [given as string]: value };
    return this.#with({ meta: { ...this.definition.meta, ...added } });
  }
  /** Milliseconds the request may take. @default limits.requestMs */
  timeout(milliseconds: number): ActionBuilder<S> {
    return this.#with({ timeout: milliseconds });
  }
  /** All it does is in the database, by the driver and the clients of its context: it may be part of a batch. */
  transactional(): ActionBuilder<S> {
    return this.#with({ transactional: true });
  }
  /**
   * Steps in place of a handler: what the last one gives is the answer; when one fails, those before it are taken back. Runs
   * with the caller's rights.
   * @param steps of a workflow, or the workflow, or its builder; it may not ask for more than `.input()` declares
   */
  workflow<TInput = unknown>(
    steps: (readonly WorkflowStepLike[] | WorkflowOfSteps<TInput> | { build(): WorkflowOfSteps<TInput> }) &
      TakesInput<S["input"], TInput>,
    options?: object,
  ): ActionBuilder<S> {
    return this.#with({ workflow: { steps, options }, handler: runWorkflowAction });
  }
  /** What it does. What is returned is masked like every answer; undefined is 204. */
  handler<O>(
    run: (context: ContextOf<S>) => O | Promise<O>,
  ): ActionBuilder<With<S, { output: unknown extends S["output"] ? O : S["output"] }>> {
    return this.#with({ handler: run as unknown as ActionDefinition["handler"] });
  }
}

/** @throws ConfigurationError for an object, which is attached as it is */
function assertPath(name: unknown): void {
  if (name === undefined || typeof name === "string") return;
  throw new ConfigurationError(
    "action() takes a path, or nothing, and builds the rest: action().handler(…). An action that is an object is attached without it, with at least a `handler`: .actions({ publish: { handler } })",
  );
}

/**
 * Starts an action: `POST` on the collection unless it says otherwise (spec 4.3).
 * @param name its path @default the name it is attached under
 * @throws ConfigurationError for anything but a text
 * @example
 * action().onResource().input({ reason: string.max(200) }).handler(async ({ record, input, driver }) =>
 *   driver.update("post", { id: record.id }, { status: "rejected", reason: input.reason }))
 */
export function action(name?: string): ActionBuilder {
  assertPath(name);
  return new ActionBuilder({
    path: name === undefined ? undefined : `/${name.replace(/^\//, "")}`,
    handler: noHandler,
  });
}
