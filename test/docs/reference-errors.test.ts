import { readFileSync } from "node:fs";
import {
  action,
  belongsTo,
  ConfigurationError,
  DatabaseError,
  DatabaseUnavailableError,
  email,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  PluginError,
  RateLimitedError,
  step,
  string,
  text,
} from "keelson";
import { idempotency } from "keelson/idempotency";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type JsonResponse, type RequestInit, type RunningApp, request, startApp } from "../support/http.ts";

const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");

/** The page's section for each code: the example and the text around it. */
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((part) => [/^[A-Z_]+/.exec(part)?.[0] ?? "", part] as const)
    .filter(([code]) => code !== ""),
);

const codes = page
  .split("\n")
  .filter((row) => row.startsWith("| `"))
  .map((row) => /`([A-Z_]+)`/.exec(row)?.[1] ?? "");

const failing = (fail: () => unknown) =>
  action()
    .rules("everyone")
    .handler(() => {
      throw fail();
    });

const author = entity("author", { name: string, email: email.unique() })
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["authenticated"] });

const post = entity("post", {
  title: string.min(3),
  body: text.optional(),
  note: string.optional().encrypted(),
  author: belongsTo(() => author),
})
  .ownedBy("author")
  .versioned({ required: true })
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({
    calls: failing(() => new RateLimitedError(30)),
    settings: failing(() => new ConfigurationError("SMTP_URL is not set")),
    plugin: failing(() => new PluginError("The search index did not answer")),
    statement: failing(() => new DatabaseError()),
    connection: failing(() => new DatabaseUnavailableError()),
    bug: failing(() => new TypeError("of a handler")),
    hold: action()
      .rules("everyone")
      .handler(() => new Promise<object>((resolve) => setTimeout(resolve, 500, {}))),
    order: action()
      .rules("everyone")
      .workflow([
        step(
          "reserve",
          () => "r1",
          () => undefined,
        ),
        step("charge", () => {
          throw new TypeError("of the bank");
        }),
      ]),
  });

let app: RunningApp;
let id = "";
const send = (method: string, path: string, init?: RequestInit) => request(app.url, method, `/api${path}`, init);
const ann = { token: "ann" };

beforeAll(async () => {
  const api = keelson({
    entities: [author, post],
    driver: memoryDriver(),
    encryption: { key: "5eed".repeat(16) },
    limits: { bodyBytes: 1000 },
    plugins: [idempotency({ required: ["post.hold"], encrypted: true })],
    logger: noopLogger,
    getUser: ({ headers }) => {
      const name = headers.get("authorization")?.slice("Bearer ".length);
      if (name === "unknowable") throw new TypeError("the session store is down");
      return name === undefined ? null : { id: name };
    },
  });
  app = await startApp(api);
  for (const name of ["ann", "bob"])
    await api.asSystem().author.create({ id: name, name, email: `${name}@mail.example` });
  ({ id } = await api.asSystem().post.create({ title: "Keels", note: "private", authorId: "ann" }));
  const broken = await api.asSystem().post.create({ title: "Frames", authorId: "bob" });
  await api.driver.updateMany(post.build(), { id: broken.id }, { note: "v1:not what was stored" } as never);
});
afterAll(() => app.close());

const keyed = (path: string, key: string) => send("POST", path, { ...ann, headers: { "idempotency-key": key } });

/** How each code is caused. */
const causes: Readonly<Record<string, () => Promise<JsonResponse>>> = {
  BAD_REQUEST: () => send("GET", "/posts?titel=Keels"),
  VALIDATION_FAILED: () => send("POST", "/posts", { ...ann, body: { title: "K" } }),
  UNAUTHENTICATED: () => send("POST", "/posts", { body: { title: "Keels" } }),
  FORBIDDEN: () => send("DELETE", `/posts/${id}`, { token: "bob", headers: { "if-match": "*" } }),
  NOT_FOUND: () => send("GET", "/posts/nowhere"),
  METHOD_NOT_ALLOWED: () => send("PATCH", "/posts", { ...ann, body: {} }),
  CONFLICT: () => send("POST", "/authors", { ...ann, body: { name: "Ann", email: "ann@mail.example" } }),
  REFERENCED: () => send("DELETE", "/authors/ann", ann),
  IDEMPOTENCY_KEY_REQUIRED: () => send("POST", "/posts/hold", ann),
  IDEMPOTENCY_KEY_IN_USE: async () => {
    const answers = await Promise.all([keyed("/posts/hold", "k1"), keyed("/posts/hold", "k1")]);
    return answers.find(({ status }) => status === 409) as JsonResponse;
  },
  IDEMPOTENCY_KEY_REUSED: async () => {
    await keyed("/posts/hold", "k2");
    return keyed("/posts/order", "k2");
  },
  PRECONDITION_FAILED: () =>
    send("PATCH", `/posts/${id}`, { ...ann, body: { title: "Ribs" }, headers: { "if-match": '"7"' } }),
  PRECONDITION_REQUIRED: () => send("PATCH", `/posts/${id}`, { ...ann, body: { title: "Ribs" } }),
  PAYLOAD_TOO_LARGE: () => send("POST", "/posts", { ...ann, body: { title: "K".repeat(2000) } }),
  UNSUPPORTED_MEDIA_TYPE: () => send("POST", "/posts", { ...ann, body: {}, headers: { "content-type": "text/plain" } }),
  RATE_LIMITED: () => send("POST", "/posts/calls"),
  CONFIGURATION_ERROR: () => send("POST", "/posts/settings"),
  PLUGIN_ERROR: () => send("POST", "/posts/plugin"),
  DATABASE_ERROR: () => send("POST", "/posts/statement"),
  DECRYPTION_FAILED: () => send("GET", "/posts"),
  WORKFLOW_FAILED: () => send("POST", "/posts/order"),
  INTERNAL: () => send("POST", "/posts/bug"),
  DATABASE_UNAVAILABLE: () => send("POST", "/posts/connection"),
  UNAVAILABLE: () => send("GET", "/posts", { token: "unknowable" }),
};

/** A value with `…` where the page has it, so that parts that differ between runs are left out. */
function asOnPage(value: unknown, example: unknown): unknown {
  if (example === "…" && typeof value === "string") return "…";
  if (Array.isArray(value)) return value.map((item, i) => asOnPage(item, (example as unknown[] | undefined)?.[i]));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, asOnPage(item, (example as Record<string, unknown>)?.[key])]),
  );
}

describe("docs/reference/errors.md", () => {
  it("has a section for each code of its table, and no other", () => {
    expect([...sections.keys()].sort()).toEqual([...codes].sort());
    expect(Object.keys(causes).sort()).toEqual([...codes].sort());
  });

  it.each(Object.keys(causes))("shows %s as it is sent", async (code) => {
    const { status, json } = await (causes[code] as () => Promise<JsonResponse>)();
    const section = sections.get(code) ?? "";
    const example: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? "null");
    expect(asOnPage(json, example)).toEqual(example);
    expect(status).toBe((example as { status: number }).status);
    expect(json.code).toBe(code);
    expect(section).toMatch(/^\*\*The caller\*\* /m);
    expect(section).toMatch(/^\*\*The developer\*\* /m);
  });
});
