// The app that bench/fast.ts measures: posts with authors, and records that are mostly moments.
import { belongsTo, bool, datetime, entity, int, string, text } from "../src/entity/index.ts";
import type { Driver } from "../src/gate/index.ts";
import { keelson, noopLogger } from "../src/index.ts";

const everyone = { read: ["everyone"], create: ["everyone"], update: ["everyone"] } as const;

const writer = entity("writer", { name: string, city: string }).timestamps(false).rules(everyone);
const article = entity("article", {
  title: string,
  body: text,
  published: bool.default(false),
  views: int.default(0),
  writer: belongsTo(() => writer),
}).rules(everyone);
const shift = entity("shift", { name: string, opens: datetime, starts: datetime, ends: datetime, closes: datetime })
  .timestamps(false)
  .rules(everyone);

export const ARTICLES = 2_000;
const WRITERS = 100;
const SHIFTS = 500;

export const idOf = (index: number): string => `row${String(index).padStart(6, "0")}`;
/** Far from each other, as those of many visitors are. */
export const somewhere = (turn: number, rows: number): number => (turn * 7_919) % rows;

export type App = ReturnType<typeof keelson>;

export async function startApp(driver: Driver, production: boolean): Promise<App> {
  const app = keelson({ entities: [writer, article, shift], driver, logger: noopLogger, production });
  await app.ready;
  return app as unknown as App;
}

const list = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

export async function fill(driver: Driver): Promise<void> {
  const moment = (hour: number): Date => new Date(Date.UTC(2_026, 0, 1, hour, 7, 21, 340));
  await driver.createMany(
    "writer",
    list(WRITERS).map((index) => ({ id: idOf(index), name: `writer ${index}`, city: `city ${index % 9}` })),
  );
  await driver.createMany(
    "article",
    list(ARTICLES).map((index) => ({
      id: idOf(index),
      title: `title ${index}`,
      body: `What article ${index} says, in a sentence or two. `.repeat(4),
      published: index % 2 === 0,
      views: index % 500,
      writerId: idOf(index % WRITERS),
      createdAt: moment(index),
      updatedAt: moment(index + 1),
    })),
  );
  await driver.createMany(
    "shift",
    list(SHIFTS).map((index) => ({
      id: idOf(index),
      name: `shift ${index}`,
      opens: moment(index),
      starts: moment(index + 1),
      ends: moment(index + 8),
      closes: moment(index + 9),
    })),
  );
}

const headers = { "content-type": "application/json" };
const bytes = (value: unknown) => ({ kind: "bytes", bytes: Buffer.from(JSON.stringify(value)) }) as const;
const page = (turn: number): string => `published=true&views_lte=${100 + (turn % 300)}&_start=20&_end=40&_sort=views`;

async function ask(app: App, request: Parameters<App["handle"]>[0]): Promise<void> {
  const { status, body } = await app.handle(request);
  if (status >= 300 || body === null) throw new Error(`status ${status} for ${request.method} ${request.url}`);
}
const get = (app: App, url: string): Promise<void> => ask(app, { method: "GET", url: `/api${url}`, headers: {} });

/** What is asked, and how often for one figure. */
export interface Workload {
  readonly requests: number;
  ask(app: App, turn: number): Promise<void>;
}

export const WORKLOADS = {
  get: { requests: 3_000, ask: (app, turn) => get(app, `/articles/${idOf(somewhere(turn, ARTICLES))}`) },
  list: { requests: 600, ask: (app, turn) => get(app, `/articles?${page(turn)}&_total=none`) },
  total: { requests: 500, ask: (app, turn) => get(app, `/articles?${page(turn)}`) },
  include: { requests: 500, ask: (app, turn) => get(app, `/articles?${page(turn)}&_total=none&include=writer`) },
  moments: { requests: 300, ask: (app, turn) => get(app, `/shifts?_start=${turn % 400}&_limit=100&_total=none`) },
  /** As handlers read them, whose moments are never texts. */
  rows: {
    requests: 300,
    ask: async (app, turn) => void (await app.driver.findMany("shift", { limit: 100, offset: turn % 400 })),
  },
  create: {
    requests: 1_500,
    ask: (app, turn) =>
      ask(app, {
        method: "POST",
        url: "/api/articles",
        headers,
        body: bytes({ title: `new ${turn}`, body: "short", writerId: idOf(turn % WRITERS) }),
      }),
  },
  update: {
    requests: 1_500,
    ask: (app, turn) =>
      ask(app, {
        method: "PUT",
        url: `/api/articles/${idOf(somewhere(turn, ARTICLES))}`,
        headers,
        body: bytes({ title: `changed ${turn}`, body: "another short one" }),
      }),
  },
  /** Three changes and a read in one transaction, as handlers make them. */
  transaction: {
    requests: 600,
    ask: (app, turn) =>
      app.driver.transaction(async (driver) => {
        for (let place = 0; place < 3; place++)
          await driver.update("article", { id: idOf(somewhere(turn * 3 + place, ARTICLES)) }, { title: `new ${turn}` });
        await driver.findOne("article", { id: idOf(somewhere(turn, ARTICLES)) });
      }),
  },
} satisfies Record<string, Workload>;
