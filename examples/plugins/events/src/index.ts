// `GET /events` streams the changes of records as server-sent events, each as the caller may see it.
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
  /** Events that may wait for a slow client; then its stream ends, and it connects again. @default 1000 */
  readonly queue: number;
}

interface Change {
  readonly entity: { readonly name: string };
  readonly kind: string;
  readonly id: string;
}

/** One open stream. */
class Subscriber {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Records that this stream has shown: only of these does it tell that they are gone. */
  readonly #shown = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;

  readonly #read: (change: Change) => Promise<unknown>;
  readonly #most: number;

  constructor(read: (change: Change) => Promise<unknown>, most: number, onEnd: (subscriber: Subscriber) => void) {
    this.#read = read;
    this.#most = most;
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        this.#send(": open\n\n"); // hosts send the headers with the first bytes
      },
      cancel: () => onEnd(this),
    });
  }

  /** Sends a change after those before it. */
  notify(change: Change): void {
    if (++this.#waiting > this.#most) this.end();
    this.#work = this.#work.then(async () => {
      const record = await this.#read(change).catch(() => null);
      this.#waiting -= 1;
      const key = `${change.entity.name} ${change.id}`;
      if (record !== null) this.#shown.add(key);
      else if (!this.#shown.delete(key)) return;
      const [kind, data] = record === null ? ["delete", { id: change.id }] : [change.kind, record];
      this.#send(`id: ${change.id}\nevent: ${change.entity.name}.${kind}\ndata: ${JSON.stringify(data)}\n\n`);
    });
  }

  #send(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}

export const events = createPluginFactory<EventsOptions>(({ queue = 1_000 }) => ({
  id: "example/events",
  setup({ records, ...context }) {
    const open = new Set<Subscriber>();
    records.onCommitted((changes) => {
      for (const change of changes) for (const subscriber of open) subscriber.notify(change);
    });
    const subscribe = (user: User | null): Subscriber => {
      const subscriber = new Subscriber(readerFor(context, user), queue, (one) => open.delete(one));
      open.add(subscriber);
      return subscriber;
    };
    return { open, subscribe };
  },
  closing(_context, { open }: { readonly open: ReadonlySet<Subscriber> }) {
    for (const subscriber of open) subscriber.end();
  },
  endpoints: {
    events: endpoint<{ subscribe(user: User | null): Subscriber }>("/events", {
      rules: ["everyone"],
      transactional: false,
      handler: ({ scope }, { subscribe }) =>
        new Reply(200, subscribe(scope.principal.user).stream, {
          "content-type": "text/event-stream",
          "cache-control": "no-store",
        }),
    }),
  },
}));

/** Reads a changed record as a caller: null for one that is gone, or that the caller may not see. */
function readerFor({ runAs, clientFor }: Pick<PluginContext, "runAs" | "clientFor">, user: User | null) {
  return async ({ entity, kind, id }: Change): Promise<unknown> =>
    kind === "delete"
      ? null
      : runAs(user, async (scope: OperationScope) => (await clientFor(scope)[entity.name]?.get(id)) ?? null);
}
