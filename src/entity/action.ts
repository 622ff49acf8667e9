import type { Metadata } from "./base/metadata.ts";
import type { AnyEntity } from "./entity-definition.ts";
import type { AnyField } from "./field-modifiers.ts";
import type { RuleRef } from "./rule-ref.ts";

type Row = Record<string, unknown>;
type Conditions = Readonly<Record<string, unknown>>;
type EntityName = string | AnyEntity | { build(): AnyEntity };

/** What a handler may do with records: the part of the driver port that definitions need to know (spec 4.3). */
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
  /** The checked body; as it was sent when the action declares no input. */
  readonly input: unknown;
  readonly user: { readonly id: string; readonly [name: string]: unknown } | null;
  readonly entity: AnyEntity;
  /** The record of a path under `/:id`, loaded and authorized. */
  readonly record: Row | null;
  /** The current transaction's driver, or the app's, with field security on. */
  readonly driver: ActionDriver;
  resolve<T = unknown>(service: string): T;
}

/** Fields of an action's input, query or output. */
export type ActionFields = Readonly<Record<string, AnyField>>;

/** What documentation says about an action, and what plugins read. */
export interface ActionMeta extends Partial<Metadata> {
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** An action as a plain object (spec 4.3). */
export interface PlainAction {
  /** @default "POST" */
  readonly method?: string | undefined;
  /** Pattern below the entity's path, such as `/:id/publish`. @default the action's name */
  readonly path?: string | undefined;
  readonly description?: string | undefined;
  /** Passing one is enough. @default those of the entity that fit method and path */
  readonly rules?: readonly RuleRef[] | undefined;
  readonly input?: ActionFields | undefined;
  readonly query?: ActionFields | undefined;
  readonly output?: ActionFields | undefined;
  readonly meta?: ActionMeta | undefined;
  /** Milliseconds the request may take. @default limits.requestMs */
  readonly timeout?: number | undefined;
  handler(context: PlainActionContext): unknown;
}

/** What types know about an action. */
export interface ActionTypes {
  /** The caller's arguments: the values of input and query. */
  readonly given: unknown;
  readonly output: unknown;
  /** Whether it is about one record. */
  readonly resource: boolean;
}

/** An action made by a builder; structural, so that definitions need not know the builder. */
export interface BuiltAction<T extends ActionTypes = ActionTypes> {
  readonly definition: object;
  /** Type-level only. */
  readonly $action?: T;
}

/** What `.actions()` takes under a name: a built action, a plain object, or a prebuilt one that was not called. */
export type ActionLike = BuiltAction | PlainAction | ((...options: never[]) => BuiltAction);

type Given<G> = [G] extends [undefined] ? [] : Record<never, never> extends G ? [given?: G] : [given: G];
type CallOf<T> = T extends { given: infer G; output: infer O; resource: infer R }
  ? R extends true
    ? (id: string, ...given: Given<G>) => Promise<O>
    : (...given: Given<G>) => Promise<O>
  : never;

/** How an action is called in the process. */
export type ActionCall<A> = A extends (...options: never[]) => infer B
  ? ActionCall<B>
  : A extends BuiltAction<infer T>
    ? A extends { readonly definition: object }
      ? CallOf<T>
      : never
    : (...given: readonly unknown[]) => Promise<unknown>;

/** Actions of an entity as methods of its client; names of the client's own methods mean those. */
export type ActionCalls<A, TTaken extends string> = {
  readonly [K in keyof A & string as K extends TTaken ? never : K]: ActionCall<A[K]>;
};
