// Reports changes of records to a webhook. Events are stored with the change, delivered at least once, and signed.
// Signatures follow Standard Webhooks (standardwebhooks.com): HMAC-SHA256 over `id.timestamp.body`.
import { createHmac, randomUUID } from "node:crypto";
import { datetime, entity, int, json, schemaFromEntities } from "keelson";
import { createPluginFactory, type Driver, type Logger } from "keelson/plugin";

/** Options of {@link outbox}. */
export interface OutboxOptions {
  readonly url: string;
  /** The key of signatures, shared by both sides: `whsec_` and base64. */
  readonly secret: string;
  /** Milliseconds between checks for entries. @default 1000 */
  readonly everyMs: number;
}

/** Internal: it has no routes. An entry names the record; receivers request the fields that they may read. */
const outboxEntry = entity("outboxEntry", {
  at: datetime,
  payload: json,
  attempts: int.default(0),
  nextAt: datetime,
}).timestamps(false);

/** Milliseconds after which an attempt without a response counts as failed. */
const TIMEOUT_MS = 10_000;
/** Milliseconds until the next attempt: doubled each time, an hour at most. */
const backoff = (attempts: number): number => Math.min(1_000 * 2 ** attempts, 3_600_000);

export const outbox = createPluginFactory<OutboxOptions>(({ url = "", secret = "", everyMs = 1_000 }) => ({
  id: "example/outbox",
  schema: schemaFromEntities([outboxEntry], { internal: true }),
  setup({ records, problem }) {
    if (!URL.canParse(url)) problem("outbox: `url` is the address that changes are posted to");
    if (!secret.startsWith("whsec_")) problem("outbox: `secret` is `whsec_` and a key in base64");
    let made = 0; // orders entries of the same millisecond by their ids
    records.onChange(async (changes, driver) => {
      const rows = changes.map(({ entity: { name }, kind, id, cause: { at } }) => ({
        id: `${String(made++).padStart(12, "0")}-${randomUUID()}`,
        at,
        payload: { type: `${name}.${kind}`, timestamp: at.toISOString(), data: { id } },
        attempts: 0,
        nextAt: at,
      }));
      await driver.createMany("outboxEntry", rows);
    });
    return { timer: undefined as NodeJS.Timeout | undefined, delivering: Promise.resolve() };
  },
  start({ driver, log }, state: { timer: NodeJS.Timeout | undefined; delivering: Promise<void> }) {
    const again = (): void => {
      state.delivering = deliverDue(driver, (entry) => send(entry, url, secret), log).catch((error: unknown) =>
        log.error("The outbox could not be read", { error: String(error) }),
      );
      void state.delivering.then(() => {
        if (state.timer !== undefined) state.timer = setTimeout(again, everyMs).unref();
      });
    };
    state.timer = setTimeout(again, 0).unref();
  },
  async stop(_context, state: { timer: NodeJS.Timeout | undefined; delivering: Promise<void> }) {
    clearTimeout(state.timer);
    state.timer = undefined;
    await state.delivering;
  },
}));

interface Entry {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
}

async function deliverDue(driver: Driver, sendEntry: (entry: Entry) => Promise<void>, log: Logger): Promise<void> {
  const due = await driver.findMany("outboxEntry", {
    where: { nextAt: { lte: new Date() } },
    sort: [{ field: "at", direction: "asc" }],
    limit: 100,
  });
  for (const entry of due as unknown as readonly Entry[]) {
    const { id, attempts } = entry;
    // Only one of several processes takes the entry; if it dies, another one tries after the pause.
    const pause = Math.max(backoff(attempts), TIMEOUT_MS);
    const next = { attempts: attempts + 1, nextAt: new Date(Date.now() + pause) };
    if ((await driver.updateMany("outboxEntry", { id, attempts }, next)) === 0) continue;
    try {
      await sendEntry(entry);
      await driver.delete("outboxEntry", { id });
    } catch (error) {
      log.warn("A webhook was not delivered", { id, attempts: attempts + 1, error: String(error) });
      await driver.updateMany("outboxEntry", { id }, { nextAt: new Date(Date.now() + backoff(attempts)) });
    }
  }
}

/** @throws Error when the receiver does not respond with 2xx */
async function send({ id, payload }: Entry, url: string, secret: string): Promise<void> {
  const body = JSON.stringify(payload);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  const { status } = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (status < 200 || status > 299) throw new Error(`the receiver answered ${status}`);
}
