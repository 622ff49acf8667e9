import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, entity, string } from "../../../src/entity/index.ts";
import { createApp, createPlugin, endpoint } from "../../../src/gate/index.ts";
import type { User } from "../../../src/kernel/index.ts";
import { all, defineRule, rules } from "../../../src/plugins/rules/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

const account = entity("account", { name: string }).build();
const note = entity("note", { text: string, author: belongsTo(() => account) })
  .ownedBy("author")
  .build();

const never = defineRule("endpoint: never settles", () => new Promise<boolean>(() => {}));
const later = defineRule("endpoint: later", async ({ operation, user }) => operation === "route" && user !== null);
const looks = defineRule("endpoint: looks", ({ record, user }) => record?.authorId === user?.nothing);
const seen = defineRule("endpoint: knows", ({ user }) => user?.trusted === true);
const narrow = defineRule("endpoint: narrow", () => ({ text: "x" }));

const lists: Record<string, readonly (string | { readonly name: string })[]> = {
  everyone: ["everyone"],
  authenticated: ["authenticated"],
  admin: ["admin"],
  any: ["admin", seen],
  slow: [never, later, "admin"],
  both: [all("authenticated", seen)],
  owner: ["owner"],
  narrow: [narrow],
  looks: [looks],
  empty: [],
};

async function statuses(user: User | null): Promise<{ open: string[]; lines: readonly string[] }> {
  const logger = recordingLogger();
  const endpoints = Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [name, endpoint(`/${name}`, { rules: list, handler: () => name })]),
  );
  const kernel = createApp({
    entities: [account, note],
    driver: memoryDriver(),
    plugins: [
      rules(),
      createPlugin({
        id: "endpoints",
        endpoints,
        setup: ({ routes }) =>
          routes.add({
            method: "GET",
            path: "/notes/own",
            entity: note,
            action: "own",
            rules: ["owner"],
            handler: () => 1,
          }),
      }),
    ],
    getUser: () => user,
    limits: { ruleMs: 5 },
    logger,
  });
  const open: string[] = [];
  const paths = [...Object.keys(lists).map((name) => `/${name}`), "/api/notes/own"];
  for (const path of [...paths, ...paths]) {
    const { status } = await kernel.fetch(new Request(`http://test.invalid${path}`));
    if (status === 200) open.push(path.slice(1));
    else expect(status).toBe(user === null ? 401 : 403);
  }
  await kernel.close();
  return { open: open.slice(0, open.length / 2), lines: logger.lines };
}

describe("rules of endpoints", () => {
  it("admit callers that they allow without a record", async () => {
    expect((await statuses(null)).open).toEqual(["everyone"]);
    expect((await statuses({ id: "ann" })).open).toEqual(["everyone", "authenticated", "slow"]);
    expect((await statuses({ id: "ann", trusted: true })).open).toEqual([
      "everyone",
      "authenticated",
      "any",
      "slow",
      "both",
    ]);
    expect((await statuses({ id: "root", role: "admin" })).open).toEqual([
      "everyone",
      "authenticated",
      "admin",
      "any",
      "slow",
    ]);
  });

  it("deny when they read the record, because their result may depend on it", async () => {
    const { lines } = await statuses({ id: "ann" });
    expect(lines.join("\n")).toContain('Rule "endpoint: looks" looks at `record`, which is null on endpoints');
  });

  it("mean the rules of their own entity, also if two routes share a list of names", async () => {
    const gate = (passes: boolean) => defineRule("endpoint: gate", () => passes);
    const open = entity("openThing", { name: string }).rules({ read: [gate(true)] });
    const shut = entity("shutThing", { name: string }).rules({ read: [gate(false)] });
    const names = ["endpoint: gate"];
    const kernel = createApp({
      entities: [open, shut],
      driver: memoryDriver(),
      plugins: [
        rules(),
        createPlugin({
          id: "shared",
          setup({ routes, entities }) {
            for (const one of entities.entities)
              routes.add({
                method: "GET",
                path: `/${one.name}`,
                entity: one,
                action: "see",
                rules: names,
                handler: () => 1,
              });
          },
        }),
      ],
      logger: recordingLogger(),
    });
    const statusOf = async (path: string) =>
      (await kernel.fetch(new Request(`http://test.invalid/api/${path}`))).status;
    expect([await statusOf("openThing"), await statusOf("shutThing")]).toEqual([200, 401]);
    await kernel.close();
  });

  it("keep the app from starting when they are unknown", () => {
    const odd = createPlugin({
      id: "acme/odd",
      endpoints: { a: endpoint("/a", { rules: ["nobody knows this"], handler: () => 1 }) },
    });
    const boot = () => createApp({ entities: [note, account], driver: memoryDriver(), plugins: [odd, rules()] });
    expect(boot).toThrow('GET /a of plugin "acme/odd": there is no rule "nobody knows this"');
  });
});
