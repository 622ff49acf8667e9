import { setTimeout as delay } from "node:timers/promises";
import {
  action,
  BadRequestError,
  belongsTo,
  countAction,
  createPlugin,
  endpoint,
  entity,
  exportAction,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  Reply,
  string,
} from "keelson";
import type { RequestInfo } from "../../src/kernel/index.ts";

const user = entity("user", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });

const film = entity("film", { title: string.min(1).max(80), year: int.optional() })
  .rules({
    read: ["everyone"],
    create: ["authenticated"],
    update: ["authenticated"],
    delete: ["authenticated"],
  })
  .actions({
    count: countAction,
    export: exportAction,
    rename: action()
      .onResource()
      .input({ title: string.min(1).max(80) })
      .handler(({ record, input, driver, entity: films }) => driver.update(films, { id: record.id }, input)),
    praise: action()
      .input({ words: string.optional() })
      .handler(({ input }) => input),
  });

/** Callers see and create only their own records. */
const note = entity("note", { text: string, author: belongsTo(() => user) })
  .ownedBy("author")
  .rules({ read: ["owner"], create: ["authenticated"] });

/** More than the buffers of two sockets hold. */
const CHUNKS = 4_000;

/** One response of every kind that adapters write. */
function answers() {
  /** The outcome of slow responses. */
  const seen = { waiting: 0, aborted: 0, sent: 0, ended: 0 };
  async function* chunks() {
    try {
      for (; seen.sent < CHUNKS; seen.sent++) yield new Uint8Array(65_536);
    } finally {
      seen.ended++;
    }
  }
  return createPlugin({
    id: "answers",
    endpoints: {
      cookies: endpoint("/answers/cookies", {
        rules: ["everyone"],
        handler: () => new Reply(200, { ok: true }, { "set-cookie": ["a=1; Path=/", "b=2; Path=/"] }),
      }),
      bytes: endpoint("/answers/bytes", {
        rules: ["everyone"],
        handler: () => new Reply(200, Uint8Array.from([0, 255, 128]), { "content-type": "application/octet-stream" }),
      }),
      stream: endpoint("/answers/stream", {
        rules: ["everyone"],
        handler: () => new Reply(200, lines(), { "content-type": "text/plain; charset=utf-8" }),
      }),
      nothing: endpoint("/answers/nothing", { method: "POST", rules: ["everyone"], handler: () => undefined }),
      empty: endpoint("/answers/empty", { rules: ["everyone"], handler: () => new Reply(200) }),
      redirect: endpoint("/answers/redirect", {
        rules: ["everyone"],
        handler: () => new Reply(303, undefined, { location: "https://elsewhere.example/a%2Fb?c=%20d" }),
      }),
      unwritable: endpoint("/answers/unwritable", {
        rules: ["everyone"],
        handler: () => new Reply(200, "secret", { "x-note": "two\nlines" }),
      }),
      // A response of another server is the runtime's own Response, even if the host has replaced the global one.
      fetched: endpoint("/answers/fetched", {
        rules: ["everyone"],
        handler: () => fetch("data:text/plain,from%20afar"),
      }),
      wait: endpoint("/answers/wait", {
        rules: ["everyone"],
        handler: ({ scope: { exchange } }) =>
          new Promise<void>((resolve) => {
            seen.waiting++;
            exchange?.signal.addEventListener("abort", () => {
              seen.aborted++;
              resolve();
            });
          }),
      }),
      chunks: endpoint("/answers/chunks", {
        rules: ["everyone"],
        handler: () => new Reply(200, chunks(), { "content-type": "application/octet-stream" }),
      }),
      below: endpoint("/answers/below/:path+", { rules: ["everyone"], handler: ({ params }) => params }),
      verb: endpoint("/answers/:id:archive", {
        method: "POST",
        rules: ["everyone"],
        handler: ({ params }) => ({ archived: params.id }),
      }),
      gather: endpoint("/answers:gather", { method: "POST", rules: ["everyone"], handler: () => ({ gathered: true }) }),
      raw: endpoint("/answers/raw", {
        method: "POST",
        rules: ["everyone"],
        body: { as: "raw", bytes: 100 },
        async handler({ body }) {
          const chunks: Uint8Array[] = [];
          for await (const chunk of await body()) chunks.push(chunk);
          return { bytes: Buffer.concat(chunks).toString("base64") };
        },
      }),
      form: endpoint("/answers/form", {
        method: "POST",
        rules: ["authenticated"],
        body: { as: "multipart", bytes: 1_000, parts: 2 },
        async handler({ body }) {
          const parts: unknown[] = [];
          for (const [name, value] of await body())
            parts.push(typeof value === "string" ? [name, value] : [name, value.name, value.type, await value.text()]);
          return { parts };
        },
      }),
      fault: endpoint("/answers/fault", {
        rules: ["authenticated"],
        errorFormat: ({ status, code }) => ({ type: "text/x-fault", body: `${code} (${status})` }),
        handler: () => {
          throw new BadRequestError("There is no such thing");
        },
      }),
      ticks: endpoint("/answers/ticks", {
        rules: ["everyone"],
        handler: () => Reply.stream(ticks, { "content-type": "text/plain" }),
      }),
      seen: endpoint("/answers/seen", { rules: ["everyone"], handler: () => ({ ...seen, all: seen.sent === CHUNKS }) }),
    },
  });
}

/** Never ends by itself. */
async function* ticks() {
  yield "first\n";
  await new Promise<never>(() => {});
}

async function* lines() {
  for (const line of ["first\n", "grüße\n", "last\n"]) yield line;
}

/** Waits a random time wherever a request may wait, so that requests overtake each other. */
const dawdle = createPlugin({
  id: "dawdle",
  hooks: {
    "request:start": () => delay(Math.random() * 5),
    "operation:authorize": () => delay(Math.random() * 5),
    "operation:join": () => delay(Math.random() * 5),
  },
});

/** `Bearer ada` authenticates Ada. */
function userOf(request: RequestInfo): { id: string } | null {
  const name = /^Bearer (\w+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  return name === undefined ? null : { id: name };
}

export interface ContractAppOptions {
  /** Whether every request waits at random places. @default false */
  readonly slow?: boolean;
}

/** The app of the adapter contract. */
export async function createContractApp({ slow = false }: ContractAppOptions = {}) {
  const api = keelson({
    entities: [user, film, note],
    driver: memoryDriver(),
    plugins: slow ? [answers(), dawdle] : [answers()],
    logger: noopLogger,
    getUser: async (request) => {
      if (slow) await delay(Math.random() * 5);
      return userOf(request);
    },
  });
  await api.ready;
  const system = api.asSystem();
  for (const name of ["ada", "bob"]) await system.user.create({ id: name, name });
  for (const [id, title, year] of [
    ["f1", "Alien", 1979],
    ["f2", "Brazil", 1985],
    ["f3", "Cube", 1997],
  ] as const)
    await system.film.create({ id, title, year });
  return api;
}

export type ContractApp = Awaited<ReturnType<typeof createContractApp>>;
