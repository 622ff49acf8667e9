import { onTestFinished } from "vitest";
import {
  createPlugin,
  type Driver,
  endpoint,
  entity,
  keelson,
  type Limits,
  memoryDriver,
  type Plugin,
  string,
} from "../../../src/index.ts";
import { type RateLimitOptions, rateLimit } from "../../../src/plugins/rate-limit/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { request, startApp } from "../../support/http.ts";

const note = entity("note", { text: string }).rules({
  read: ["everyone"],
  create: ["authenticated"],
  update: ["authenticated"],
  delete: ["authenticated"],
});
const film = entity("film", { title: string }).rules({ read: ["everyone"], create: ["everyone"] });

export interface LimitApp {
  readonly url: string;
  readonly port: number;
  readonly lines: readonly string[];
  /** How often getUser was called. */
  readonly askedWho: () => number;
  /** Status of a request with the address that a local proxy reports. */
  status(path: string, from?: string, token?: string): Promise<number>;
  get(path: string, from?: string, token?: string): ReturnType<typeof request>;
}

/** A login and a report, which are endpoints of a plugin. */
const doors = createPlugin({
  id: "doors",
  endpoints: {
    login: endpoint("/login", { method: "POST", rules: ["everyone"], handler: async ({ body }) => await body() }),
    report: endpoint("/report", { rules: ["everyone"], handler: () => ({ ok: true }) }),
  },
});

/** Serves an app with limits until the test ends; a bearer token is the id of its user. */
export async function serveLimited(
  options: RateLimitOptions,
  {
    driver,
    plugins = [],
    limits,
    production = false,
  }: { driver?: Driver; plugins?: readonly Plugin[]; limits?: Partial<Limits>; production?: boolean } = {},
): Promise<LimitApp> {
  const logger = recordingLogger();
  let asked = 0;
  const api = keelson({
    entities: [note, film],
    driver: driver ?? memoryDriver({ note: [{ id: "n1", text: "one" }] }),
    logger,
    production,
    limits: limits ?? {},
    plugins: [doors, ...plugins, rateLimit(options)],
    getUser({ headers }) {
      asked++;
      const id = headers.get("authorization")?.slice(7);
      return id === undefined ? null : { id };
    },
  });
  await api.ready;
  const { url, port, close } = await startApp(api);
  onTestFinished(close);
  const get: LimitApp["get"] = (path, from, token) =>
    request(url, "GET", path, { token, headers: from === undefined ? {} : { "x-forwarded-for": from } });
  return {
    url,
    port,
    lines: logger.lines,
    askedWho: () => asked,
    get,
    status: async (path, from, token) => (await get(path, from, token)).status,
  };
}

/** How many of some requests were allowed. */
export async function letThrough(statuses: readonly (number | Promise<number>)[]): Promise<number> {
  return (await Promise.all(statuses)).filter((status) => status !== 429).length;
}
