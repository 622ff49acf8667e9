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
  suggestMethods,
} from "../../../entity/index.ts";
import type { WorkflowRunner } from "../../../gate/index.ts";
import { type ActionContext, type ActionDefinition, type ActionRecord, noHandler } from "./action-definition.ts";
import { Accepted, allowedUse } from "./create-context.ts";

/** `Prefer: respond-async` (RFC 7240): the response is sent before the work is done. */
const ASYNC = /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i;

/** The handler of an action that is a workflow. */
async function runWorkflowAction(context: ActionContext): Promise<unknown> {
  const { entity, action, input, params, query, scope, headers, root, resolve } = context;
  const runner = resolve<WorkflowRunner>("workflows.runner");
  const data = { params, query };
  const begun = await runner.run(`${entity.name}.${action}`, input, data, scope, allowedUse(context));
  const { runId, result, isRemembered } = begun;
  // Only the caller who started a run may read its report, and anonymous callers cannot be recognised: they have to
  // wait.
  const canAsk = isRemembered && scope.principal.kind !== "anonymous";
  if (!canAsk || !ASYNC.test(headers.get("prefer") ?? "")) return result();
  const location = `${root}/workflow-runs/${runId}`;
  return new Accepted({ runId, status: "running", location }, { location, "preference-applied": "respond-async" });
}

/** The part of a workflow step that actions use. */
export interface WorkflowStepLike {
  readonly name: string;
}

/**
 * The part of a workflow that actions use.
 * @typeParam TInput the part of the input that its steps use
 */
export interface WorkflowOfSteps<TInput = unknown> {
  readonly steps: readonly WorkflowStepLike[];
  /** Type-level only. */
  readonly $takes?: TInput;
}

/** A type error for workflows that need more input than the action declares: no workflow has this property. */
type TakesInput<TGiven, TInput> = unknown extends TGiven
  ? unknown
  : [TGiven] extends [TInput]
    ? unknown
    : { readonly "the action declares another input": TInput };

/** Types that the builder has collected. */
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

/** Builds an action. Each method returns a new builder, and every builder can be attached. */
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
  /** Rules that replace the inherited ones. One of them has to pass. */
  rules(...rules: readonly RuleRef[]): ActionBuilder<S> {
    return this.#with({ rules });
  }
  /** Fields of the body. Other fields are refused. */
  input<const F extends ActionFields>(
    fields: F,
  ): ActionBuilder<With<S, { input: InferFieldValues<F>; given: Both<S["given"], InferFieldInput<F>> }>> {
    return this.#with({ input: fields });
  }
  /** Query parameters. Other parameters are refused. */
  query<const F extends ActionFields>(
    fields: F,
  ): ActionBuilder<With<S, { query: InferFieldValues<F>; given: Both<S["given"], InferFieldInput<F>> }>> {
    return this.#with({ query: fields });
  }
  /** Fields of the response. Other fields are removed; a value that does not match is an error of the handler. */
  output<const F extends ActionFields>(fields: F): ActionBuilder<With<S, { output: InferFieldValues<F> }>> {
    return this.#with<With<S, { output: InferFieldValues<F> }>>({ output: fields });
  }
  /** Metadata for the documentation, or a value for a plugin. Plugins find it in `meta` of the action's route. */
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
  /**
   * Marks the action as limited to the database, through the driver and clients of its context. A batch may contain it.
   */
  transactional(): ActionBuilder<S> {
    return this.#with({ transactional: true });
  }
  /**
   * Runs the steps of a workflow instead of a handler. The result of the last step is the response; when a step fails,
   * the steps before it are compensated. Runs with the caller's rights.
   * @param steps of a workflow, the workflow itself, or its builder; it may not need more than `.input()` declares
   */
  workflow<TInput = unknown>(
    steps: (readonly WorkflowStepLike[] | WorkflowOfSteps<TInput> | { build(): WorkflowOfSteps<TInput> }) &
      TakesInput<S["input"], TInput>,
    options?: object,
  ): ActionBuilder<S> {
    return this.#with({ workflow: { steps, options }, handler: runWorkflowAction });
  }
  /** The work of the action. The result is masked like every response; undefined becomes 204. */
  handler<O>(
    run: (context: ContextOf<S>) => O | Promise<O>,
  ): ActionBuilder<With<S, { output: unknown extends S["output"] ? O : S["output"] }>> {
    return this.#with({ handler: run as unknown as ActionDefinition["handler"] });
  }
}

suggestMethods(ActionBuilder);

/** @throws ConfigurationError for values that are not a path, such as an action that is an object */
function assertPath(name: unknown): void {
  if (name === undefined || typeof name === "string") return;
  throw new ConfigurationError(
    "action() takes a path, or nothing, and builds the rest: action().handler(…). An action that is an object is attached without it, with at least a `handler`: .actions({ publish: { handler } })",
  );
}

/**
 * Starts an action: `POST` on the collection by default (spec 4.3).
 * @param name its path @default the name it is attached under
 * @throws ConfigurationError if the name is not a string
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
