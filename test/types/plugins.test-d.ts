import {
  createPlugin,
  createPluginFactory,
  defineConfig,
  entity,
  int,
  keelson,
  schemaFromEntities,
  string,
} from "keelson";
import { createClient } from "keelson/client";
import { token } from "keelson/plugin";
import { describe, expectTypeOf, it } from "vitest";

const entry = entity("auditEntry", { what: string, count: int.optional() });
const audit = createPluginFactory((_options: Partial<{ readonly keep: number }>) => ({
  id: "acme/audit",
  schema: schemaFromEntities([entry]),
  setup({ clientFor, runAs }) {
    const note = (what: string) => runAs("system", (scope) => clientFor(scope, [entry]).auditEntry.create({ what }));
    // @ts-expect-error what is a text
    void runAs("system", (scope) => clientFor(scope, [entry]).auditEntry.create({ what: 1 }));
    return { note };
  },
  start(_context, { note }) {
    expectTypeOf(note).parameter(0).toEqualTypeOf<string>();
  },
}));
const tenancy = createPlugin({
  id: "acme/tenancy",
  extend: { "*": { tenantId: string.readonly().optional() }, post: { words: int.default(0) } },
});
const plain = createPlugin({ id: "acme/plain" });
const post = entity("post", { title: string });
const person = entity("person", { name: string });

const listed = () => keelson({ entities: [post, person], plugins: [audit({ keep: 1 }), plain, tenancy] });
const computed = () =>
  keelson({ entities: [post, person], plugins: (defaults) => defaults.with(audit(), tenancy).without("health") });
const configured = () => keelson(defineConfig({ entities: [post, person], plugins: [tenancy, audit()] }));
type App = ReturnType<typeof listed>;

describe("the types that plugins add to an app", () => {
  it("include their entities, and fields that they add, under $Infer", () => {
    type Entities = App["$Infer"]["Entities"];
    expectTypeOf<App["$Infer"]["EntityNames"]>().toEqualTypeOf<"post" | "person" | "auditEntry">();
    expectTypeOf<Entities["auditEntry"]["count"]>().toEqualTypeOf<number | null>();
    expectTypeOf<Entities["post"]["words"]>().toEqualTypeOf<number>();
    expectTypeOf<Entities["post"]["title"]>().toEqualTypeOf<string>();
    expectTypeOf<Entities["person"]["tenantId"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Entities["person"]>().not.toHaveProperty("words");
  });

  it("are the same for a list, a function and a configuration", () => {
    expectTypeOf<ReturnType<typeof computed>["$Infer"]>().toEqualTypeOf<App["$Infer"]>();
    expectTypeOf<ReturnType<typeof configured>["$Infer"]>().toEqualTypeOf<App["$Infer"]>();
  });

  it("are available in in-process and HTTP clients", () => {
    const api = null as unknown as App;
    expectTypeOf(
      api
        .as({ id: "a" })
        .auditEntry.get("x")
        .then(({ what }) => what),
    ).resolves.toEqualTypeOf<string>();
    void api.as({ id: "a" }).post.create({ title: "t", words: 3 });
    // @ts-expect-error readonly fields are not for callers
    void api.as({ id: "a" }).post.create({ title: "t", tenantId: "x" });
    void api.asSystem().post.create({ title: "t", tenantId: "x" });
    const client = createClient<App>({ baseUrl: "/api" });
    expectTypeOf(client.post.get("x").then(({ words }) => words)).resolves.toEqualTypeOf<number>();
    void client.post.list({ where: { words: { gt: 3 }, tenantId: "x" } });
    // @ts-expect-error there is no such field
    void client.person.list({ where: { words: 3 } });
    expectTypeOf(client.auditEntry.count()).resolves.toEqualTypeOf<number>();
  });

  it("include listeners of a plugin's own hook by the hook's token", () => {
    const Delivered = token<{ readonly id: string }>("acme:delivered");
    createPlugin({
      id: "acme/delivery",
      setup({ hooks }) {
        const run = hooks.define(Delivered);
        expectTypeOf(run).parameter(0).toEqualTypeOf<{ readonly id: string }>();
        hooks.on(Delivered, ({ id }) => void expectTypeOf(id).toEqualTypeOf<string>());
        hooks.on("request:end", ({ response }) => void expectTypeOf(response.status).toEqualTypeOf<number>());
        // @ts-expect-error there is no such hook
        hooks.on("acme:delivered", () => {});
      },
    });
  });

  it("are absent in an app without such plugins", () => {
    const api = keelson({ entities: [post, person], plugins: [plain] });
    expectTypeOf(api.$Infer).toEqualTypeOf(keelson({ entities: [post, person] }).$Infer);
  });
});
