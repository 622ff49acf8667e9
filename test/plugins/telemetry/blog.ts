import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import { serve } from "../../../src/adapters/node/index.ts";
import {
  action,
  belongsTo,
  createPlugin,
  type Driver,
  email,
  endpoint,
  entity,
  exportAction,
  generateEncryptionKey,
  keelson,
  memoryDriver,
  step,
  string,
  text,
  updateEntityStep,
  withOptions,
  workflow,
} from "../../../src/index.ts";
import { type TelemetryOptions, telemetry } from "../../../src/plugins/telemetry/index.ts";

/** A text that appears nowhere else. */
export const canary = (of: string): string => `canary-${of}-${randomUUID()}`;

export const CANARIES = {
  token: canary("token"),
  password: canary("password"),
  secret: canary("secret"),
  email: `${canary("email")}@films.example`,
  name: canary("name"),
  title: canary("title"),
  body: canary("body"),
};

const author = entity("author", {
  name: string,
  email: email.readable("owner"),
  password: string.password({ cost: 8 }).optional(),
  apiToken: string.omit().optional(),
  secret: text.encrypted().optional(),
})
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["everyone"], update: ["owner"] });

const publish = workflow<{ id: string }>("publish")
  .addStep(
    withOptions(
      updateEntityStep("edit", "post", { id: "p1" }, () => ({ title: CANARIES.title })),
      { asSystem: true },
    ),
  )
  .addStep(
    step("announce", () => {
      throw new TypeError(`announcing ${CANARIES.title} failed`);
    }),
  );

const post = entity("post", { title: string, body: text, author: belongsTo(() => author) })
  .ownedBy("author")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({
    export: exportAction(),
    publish: action().post().onResource().rules("authenticated").workflow(publish),
  });

const broken = createPlugin({
  id: "broken",
  endpoints: {
    broken: endpoint("/broken", {
      rules: ["everyone"],
      handler() {
        throw new RangeError(`cannot read ${CANARIES.secret}`);
      },
    }),
  },
});

/** Serves a traced blog until the test ends. */
export async function serveBlog(options: TelemetryOptions = {}, driver: Driver = memoryDriver()) {
  const api = keelson({
    entities: [author, post],
    driver,
    encryption: { key: generateEncryptionKey() },
    plugins: [broken, telemetry(options)],
    getUser({ headers }) {
      const id = headers.get("authorization")?.slice(7);
      return id === undefined ? null : { id };
    },
  });
  await api.ready;
  const { token: apiToken, secret, email: address, name, title, body } = CANARIES;
  const ann = { id: "ann", name, email: address, apiToken, secret };
  await api.asSystem().author.create(ann);
  await api.asSystem().post.create({ id: "p1", title, body, authorId: "ann" });
  const { url, close } = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false });
  onTestFinished(close);
  return { api, url, ask: (method: string, path: string, init: Asked = {}) => ask(url + path, method, init) };
}

interface Asked {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests directly, because a test's own read of the API's document would appear among the spans. */
async function ask(url: string, method: string, { token, body, headers = {} }: Asked): Promise<Response> {
  const sent = new Headers(headers);
  if (token !== undefined) sent.set("authorization", `Bearer ${token}`);
  if (body !== undefined) sent.set("content-type", "application/json");
  const response = await fetch(url, { method, headers: sent, body: body === undefined ? null : JSON.stringify(body) });
  await response.arrayBuffer();
  return response;
}
