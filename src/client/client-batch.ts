import type { InferCreate, InferRecord, InferUpdate } from "../entity/index.ts";
import type { CallOptions, TypedApp } from "./client-options.ts";
import { badCall, encode, idText } from "./client-routes.ts";
import {
  type Answer,
  expectJson,
  type Outgoing,
  type OverTheWire,
  type Send,
  type Sendable,
  unexpectedAnswer,
} from "./create-sender.ts";

/** A change that is part of a batch, and what it will be answered with. */
export interface Pending<T> {
  /** Stands for the id of its record in the changes after it; only there. */
  readonly id: string;
  /** Type-level only. */
  readonly $result?: T;
}

/** The changes that a batch may have of an entity: the calls of its client, which are sent together. */
export interface BatchEntity<E> {
  create(data: Sendable<InferCreate<E>>): Pending<OverTheWire<InferRecord<E>>>;
  update(id: string, data: Sendable<InferUpdate<E>>, options?: BatchOptions): Pending<OverTheWire<InferRecord<E>>>;
  upsert(
    data: Sendable<InferCreate<E>>,
    options: { readonly on: string | readonly string[] },
  ): Pending<OverTheWire<InferRecord<E>>>;
  delete(id: string, options?: BatchOptions): Pending<{ readonly id: string; readonly success: true }>;
}

/** Options of one change of a batch. */
export type BatchOptions = Pick<CallOptions, "ifVersion">;

/** The changes that a batch may have, by entity. */
export type Batch<TApi extends TypedApp> = { readonly [N in keyof TApi["entities"]]: BatchEntity<TApi["entities"][N]> };

/**
 * Sends changes in one request: all of them are made, or nothing is. Each is under its own rules and validation.
 * @param write names the changes in their order, and returns those whose answers are wanted
 * @returns their answers
 * @throws KeelsonClientError for the first change that is refused: its message begins with `Item 2: `
 * @example
 * const [order] = await client.$batch((tx) => {
 *   const order = tx.order.create({ number: "7" })
 *   tx.line.create({ orderId: order.id, sku: "a" })
 *   return [order]
 * })
 */
export type SendBatch<TApi extends TypedApp> = <const R extends readonly Pending<unknown>[]>(
  write: (tx: Batch<TApi>) => R,
  options?: Omit<CallOptions, "ifVersion">,
) => Promise<{ -readonly [K in keyof R]: R[K] extends Pending<infer T> ? T : never }>;

interface Item {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Collects changes, and sends them. */
export class BatchWriter {
  readonly #pathOf: (entity: string) => string;
  readonly #items: Item[] = [];
  readonly #pending: Pending<unknown>[] = [];
  /** What a value that is sent later stands for, by its placeholder. */
  readonly #places = new Map<string, string>();
  readonly #mark = `${Math.random()}${Date.now()}`;

  constructor(pathOf: (entity: string) => string) {
    this.#pathOf = pathOf;
  }

  entity(name: string): BatchEntity<unknown> {
    const collection = this.#pathOf(name);
    const record = (id: string): string => {
      const text = idText(id);
      return `${collection}/${this.#places.get(text) ?? encode(text)}`;
    };
    return Object.freeze({
      create: (body: unknown) => this.#add({ method: "POST", path: collection, body }),
      update: (id: string, body: unknown, options?: BatchOptions) =>
        this.#add({ method: "PATCH", path: record(id), body, ...conditionOf(options) }),
      upsert: (body: unknown, { on }: { readonly on: string | readonly string[] }) =>
        this.#add({ method: "PUT", path: `${collection}?_on=${encode([on].flat().join())}`, body }),
      delete: (id: string, options?: BatchOptions) =>
        this.#add({ method: "DELETE", path: record(id), ...conditionOf(options) }),
    });
  }

  async send(send: Send, wanted: readonly Pending<unknown>[], options: CallOptions | undefined): Promise<unknown[]> {
    const places = wanted.map((pending) => this.#pending.indexOf(pending));
    if (places.includes(-1)) throw badCall("A batch returns changes of its own");
    const request: Outgoing = {
      method: "POST",
      path: "/batch",
      body: this.#items.map((item) => this.#written(item)),
      options,
    };
    const answer: Answer = await send(request);
    const answers = expectJson(answer);
    if (!Array.isArray(answers) || answers.length !== this.#items.length)
      throw unexpectedAnswer(answer, `${answer.of} returned something other than an answer for each change`);
    return places.map((index) => (answers[index] as { readonly body: unknown }).body);
  }

  #add(item: Item): Pending<never> {
    const index = this.#items.push(item) - 1;
    const id = `${this.#mark}.${index}`;
    this.#places.set(id, `$${index}.id`);
    const pending = Object.freeze({ id });
    this.#pending.push(pending);
    return pending;
  }

  #written(item: Item): Item {
    return item.body === undefined ? item : { ...item, body: this.#resolve(item.body) };
  }

  /** A value with references in place of placeholders; other texts that look like references stand for themselves. */
  #resolve(value: unknown): unknown {
    if (typeof value === "string") return this.#places.get(value) ?? (value.startsWith("$") ? `$${value}` : value);
    if (Array.isArray(value)) return value.map((one) => this.#resolve(one));
    if (typeof value !== "object" || value === null || value instanceof Uint8Array || value instanceof Date)
      return value;
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === "function") return this.#resolve(toJSON.call(value, ""));
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.#resolve(one)]));
  }
}

function conditionOf({ ifVersion }: BatchOptions = {}): Pick<Item, "headers"> {
  return ifVersion === undefined ? {} : { headers: { "if-match": `"${ifVersion}"` } };
}
