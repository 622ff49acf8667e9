import { setTimeout as delay } from "node:timers/promises";
import {
  belongsTo,
  createPlugin,
  endpoint,
  entity,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  Reply,
  type RequestInfo,
  string,
} from "keelson";

const user = entity("user", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });

const film = entity("film", { title: string.min(1).max(80), year: int.optional() }).rules({
  read: ["everyone"],
  create: ["authenticated"],
  update: ["authenticated"],
  delete: ["authenticated"],
});

/** Everybody sees and makes only what is theirs. */
const note = entity("note", { text: string, author: belongsTo(() => user) })
  .ownedBy("author")
  .rules({ read: ["owner"], create: ["authenticated"] });

/** An answer of every kind that adapters have to write. */
const answers = createPlugin({
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
  },
});

async function* lines() {
  for (const line of ["first\n", "grüße\n", "last\n"]) yield line;
}

/** Lets other requests overtake wherever a request may wait. */
const dawdle = createPlugin({
  id: "dawdle",
  hooks: {
    "request:start": () => delay(Math.random() * 5),
    "operation:authorize": () => delay(Math.random() * 5),
    "operation:join": () => delay(Math.random() * 5),
  },
});

/** `Bearer ada` is Ada. */
function userOf(request: RequestInfo): { id: string } | null {
  const name = /^Bearer (\w+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  return name === undefined ? null : { id: name };
}

export interface ContractAppOptions {
  /** Every request waits at random places. @default false */
  readonly slow?: boolean;
}

/** The app that all adapters have to serve alike. */
export async function createContractApp({ slow = false }: ContractAppOptions = {}) {
  const api = keelson({
    entities: [user, film, note],
    driver: memoryDriver(),
    plugins: slow ? [answers, dawdle] : [answers],
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
