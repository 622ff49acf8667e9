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

/** A change in a batch, with the type of its response. */
export interface Pending<T> {
  /** A placeholder for the id of its record, for use in later changes of the batch only. */
  readonly id: string;
  /** Type-level only. */
  readonly $result?: T;
}

/** The changes of one entity in a batch: the calls of its client, which are sent together. */
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

/** The changes of a batch, by entity. */
export type Batch<TApi extends TypedApp> = { readonly [N in keyof TApi["entities"]]: BatchEntity<TApi["entities"][N]> };

/**
 * Sends changes in one request, all or nothing. Each is checked against its own rules and validation.
 * @param write makes the changes in order, and returns those whose responses are needed
 * @returns the responses
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

/** Collects and sends changes. */
export class BatchWriter {
  readonly #pathOf: (entity: string) => string;
  readonly #items: Item[] = [];
  readonly #pending: Pending<unknown>[] = [];
  /** The reference for each placeholder. */
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

  /** Replaces placeholders with references; other texts that look like references are escaped. */
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
