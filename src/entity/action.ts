import type { Metadata } from "./base/metadata.ts";
import type { AnyEntity } from "./entity-definition.ts";
import type { AnyField } from "./field-modifiers.ts";
import type { RuleRef } from "./rule-ref.ts";

type Row = Record<string, unknown>;
type Conditions = Readonly<Record<string, unknown>>;
type EntityName = string | AnyEntity | { build(): AnyEntity };

/** The record access of a handler: the part of the driver port that definitions need (spec 4.3). */
export interface ActionDriver {
  findOne(entity: EntityName, where: Conditions): Promise<Row | null>;
  findMany(entity: EntityName, query?: { readonly where?: Conditions; readonly limit?: number }): Promise<Row[]>;
  count(entity: EntityName, where?: Conditions): Promise<number>;
  create(entity: EntityName, data: Row): Promise<Row>;
  update(entity: EntityName, where: Conditions, data: Row): Promise<Row | null>;
  delete(entity: EntityName, where: Conditions): Promise<boolean>;
}

/** The input of a plain action object's handler; handlers of the builder get it with more types. */
export interface PlainActionContext {
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The validated body; unchecked when the action declares no input. */
  readonly input: unknown;
  readonly user: { readonly id: string; readonly [name: string]: unknown } | null;
  readonly entity: AnyEntity;
  /** The loaded and authorized record, for paths under `/:id`. */
  readonly record: Row | null;
  /** The driver of the current transaction, or the app's, with field security. */
  readonly driver: ActionDriver;
  resolve<T = unknown>(service: string): T;
}

/** Fields of an action's input, query or output. */
export type ActionFields = Readonly<Record<string, AnyField>>;

/** Metadata of an action for documentation and plugins. */
export interface ActionMeta extends Partial<Metadata> {
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** An action as a plain object (spec 4.3). */
export interface PlainAction {
  /** @default "POST" */
  readonly method?: string | undefined;
  /** The pattern below the entity's path, such as `/:id/publish`. @default the action's name */
  readonly path?: string | undefined;
  readonly description?: string | undefined;
  /** One rule must pass. @default the entity's rules that match method and path */
  readonly rules?: readonly RuleRef[] | undefined;
  readonly input?: ActionFields | undefined;
  readonly query?: ActionFields | undefined;
  readonly output?: ActionFields | undefined;
  readonly meta?: ActionMeta | undefined;
  /** Timeout of the request in milliseconds. @default limits.requestMs */
  readonly timeout?: number | undefined;
  handler(context: PlainActionContext): unknown;
}

/** The types of an action. */
export interface ActionTypes {
  /** The caller's arguments: the values of input and query. */
  readonly given: unknown;
  readonly output: unknown;
  /** Whether it acts on one record. */
  readonly resource: boolean;
}

/** An action made by a builder; structural, so that definitions do not depend on the builder. */
export interface BuiltAction<T extends ActionTypes = ActionTypes> {
  readonly definition: object;
  /** Type-level only. */
  readonly $action?: T;
}

/** A value of `.actions()`: a built action, a plain object, or a prebuilt action that was not called. */
export type ActionLike = BuiltAction | PlainAction | ((...options: never[]) => BuiltAction);

type Given<G> = [G] extends [undefined] ? [] : Record<never, never> extends G ? [given?: G] : [given: G];
type CallOf<T> = T extends { given: infer G; output: infer O; resource: infer R }
  ? R extends true
    ? (id: string, ...given: Given<G>) => Promise<O>
    : (...given: Given<G>) => Promise<O>
  : never;

/** The signature of an in-process call of an action. */
export type ActionCall<A> = A extends (...options: never[]) => infer B
  ? ActionCall<B>
  : A extends BuiltAction<infer T>
    ? A extends { readonly definition: object }
      ? CallOf<T>
      : never
    : (...given: readonly unknown[]) => Promise<unknown>;

/** The actions of an entity as methods of its client, except for names of the client's own methods. */
export type ActionCalls<A, TTaken extends string> = {
  readonly [K in keyof A & string as K extends TTaken ? never : K]: ActionCall<A[K]>;
};
