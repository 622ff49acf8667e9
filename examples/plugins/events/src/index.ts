// `GET /events` streams changes of records as server-sent events, each with the fields that the caller may read.
import {
  createPluginFactory,
  endpoint,
  type OperationScope,
  type PluginContext,
  Reply,
  type User,
} from "keelson/plugin";

/** Options of {@link events}. */
export interface EventsOptions {
  /** Events that may wait for a slow client. With more, its stream ends, and the client reconnects. @default 1000 */
  readonly queue: number;
}

interface Change {
  readonly entity: { readonly name: string };
  readonly kind: string;
  readonly id: string;
}

/** The events of one stream. */
class Subscriber {
  /** Records that this stream has shown; it reports the removal of these only. */
  readonly #shown = new Set<string>();
  readonly #waiting: Change[] = [];
  readonly #read: (change: Change) => Promise<unknown>;
  readonly #most: number;
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(read: (change: Change) => Promise<unknown>, most: number) {
    this.#read = read;
    this.#most = most;
  }

  notify(change: Change): void {
    if (this.#waiting.push(change) > this.#most) this.end();
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** The changes that the caller may see, in their order. */
  async *events(): AsyncGenerator<string> {
    yield ": open\n\n"; // hosts send the headers with the first bytes
    while (!this.#isOver) {
      const change = this.#waiting.shift();
      if (change !== undefined) yield* this.#eventOf(change);
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async *#eventOf(change: Change): AsyncGenerator<string> {
    const record = await this.#read(change).catch(() => null);
    const key = `${change.entity.name} ${change.id}`;
    if (record !== null) this.#shown.add(key);
    else if (!this.#shown.delete(key)) return;
    const [kind, data] = record === null ? ["delete", { id: change.id }] : [change.kind, record];
    yield `id: ${change.id}\nevent: ${change.entity.name}.${kind}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

export const events = createPluginFactory<EventsOptions>(({ queue = 1_000 }) => ({
  id: "example/events",
  setup({ records, ...context }) {
    const open = new Set<Subscriber>();
    records.onCommitted((changes) => {
      for (const change of changes) for (const subscriber of open) subscriber.notify(change);
    });
    const subscribe = (user: User | null, signal: AbortSignal): AsyncIterable<string> => {
      const subscriber = new Subscriber(readerFor(context, user), queue);
      open.add(subscriber);
      // The client has disconnected, or the app begins to close.
      signal.addEventListener("abort", () => {
        open.delete(subscriber);
        subscriber.end();
      });
      return subscriber.events();
    };
    return { subscribe };
  },
  endpoints: {
    events: endpoint<{ subscribe(user: User | null, signal: AbortSignal): AsyncIterable<string> }>("/events", {
      rules: ["everyone"],
      transactional: false,
      handler: ({ scope }, { subscribe }) =>
        Reply.stream((signal) => subscribe(scope.principal.user, signal), {
          "content-type": "text/event-stream",
          "cache-control": "no-store",
        }),
    }),
  },
}));

/** Reads a changed record with the caller's rights: null if it no longer exists, or if the caller may not see it. */
function readerFor({ runAs, clientFor }: Pick<PluginContext, "runAs" | "clientFor">, user: User | null) {
  return async ({ entity, kind, id }: Change): Promise<unknown> =>
    kind === "delete"
      ? null
      : runAs(user, async (scope: OperationScope) => (await clientFor(scope)[entity.name]?.get(id)) ?? null);
}
