import { defineRule, entity, keelson, memoryDriver, noopLogger, string, type User } from "keelson";
import { openapiDocument } from "keelson/openapi";
import { studio } from "keelson/studio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { CANARIES, createShop, type Shop } from "../../support/studio/shop.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await createShop();
});
afterAll(() => shop.close());

type Described = Awaited<ReturnType<typeof read>>["json"];

async function read(token?: string, api: Pick<Shop, "fetch"> = shop) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await api.fetch(new Request("http://localhost/studio/app.json", { headers }));
  // biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON, and the tests read all of it
  return { status: response.status, headers: response.headers, json: (await response.json()) as any };
}

const named = <T extends { readonly name: string }>(list: readonly T[], name: string): T =>
  list.find((one) => one.name === name) as T;
const entityIn = (document: Described, name: string) => named(document.entities, name) as Described;
const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);

describe("the description of an app", () => {
  it("contains the caller, and is not cached", async () => {
    const { json, headers } = await read("ann");
    expect(json.caller).toEqual({ kind: "user", id: "ann", isAdmin: false });
    expect((await read()).json.caller).toEqual({ kind: "anonymous", isAdmin: false });
    expect(headers.get("cache-control")).toBe("private, no-store");
  });

  it("omits entities, fields and actions that the caller may not use", async () => {
    const anonymous = (await read()).json;
    expect(names(anonymous.entities)).toEqual(["maker", "tag", "product"]);
    expect(names(entityIn(anonymous, "maker").fields)).toEqual(["id", "name", "createdAt", "updatedAt"]);
    const product = entityIn(anonymous, "product");
    for (const hidden of ["purchase", "secret", "internal"]) expect(names(product.fields)).not.toContain(hidden);
    expect(names(product.actions)).toEqual(["count", "export"]);
    const admin = (await read("root")).json;
    expect(names(entityIn(admin, "product").fields)).toEqual(expect.arrayContaining(["purchase", "secret"]));
    expect(names(admin.entities)).toContain("auditEntry");
    expect(JSON.stringify(admin)).not.toContain("vault");
  });

  it("contains nothing about writing for callers who may not write", async () => {
    const { json } = await read();
    const fields = json.entities.flatMap((one: Described) => one.fields);
    expect(fields.filter((field: { readonly write?: string }) => field.write !== undefined)).toEqual([]);
  });

  it("contains no value of a record", async () => {
    for (const token of [undefined, "ann", "root"]) {
      const text = JSON.stringify((await read(token)).json);
      for (const canary of CANARIES) expect(text).not.toContain(canary);
    }
  });

  it("contains each right as in the rules: for all records, or for some", async () => {
    const own = entity("own", { text: string })
      .ownedBy("id")
      .rules({ read: ["everyone"], update: ["owner"] });
    const api = keelson({
      entities: [own],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: [studio()],
      getUser: () => ({ id: "ann" }),
    });
    onTestFinished(() => api.close());
    const { json } = await read("ann", api);
    expect(json.entities[0].rights).toEqual({ list: "all", read: "all", aggregate: "all", update: "some" });
  });

  it("names the deciding rules to administrators only", async () => {
    const rules = entityIn((await read("root")).json, "product").rules;
    expect(rules).toMatchObject({ list: ["everyone"], create: ["authenticated"], delete: ["admin"] });
    for (const token of [undefined, "ann"]) expect(entityIn((await read(token)).json, "product").rules).toBeUndefined();
  });

  it("describes actions by their inputs", async () => {
    const { actions } = entityIn((await read("ann")).json, "product");
    const roles = Object.fromEntries(actions.map(({ name, role }: Described) => [name, role]));
    expect(roles).toEqual({
      archive: "action",
      softDelete: "softDelete",
      touch: "action",
      restore: "restore",
      bulkUpdate: "bulkUpdate",
      count: "count",
      export: "export",
      import: "import",
      rename: "action",
      order: "action",
    });
    expect(named(actions, "rename")).toMatchObject({
      onRecord: true,
      method: "POST",
      summary: "Gives it another name",
    });
    expect(names((named(actions, "rename") as Described).input)).toEqual(["name"]);
    expect(named(actions, "order")).toMatchObject({ onRecord: false, runsAsync: true });
  });

  it("offers deleted records to callers who may restore some", async () => {
    expect(entityIn((await read()).json, "product").deletedAt).toBeUndefined();
    expect(entityIn((await read("ann")).json, "product").deletedAt).toBe("deletedAt");
  });

  it("has the charts whose fields the caller may all read", async () => {
    const charts = [
      { entity: "product", group: "state" },
      { entity: "product", group: "state", measure: "sum=purchase" },
      { entity: "auditEntry", group: "operation" },
    ];
    const api = await createShop({ charts });
    onTestFinished(() => api.close());
    expect((await read("ann", api)).json.charts).toEqual([charts[0]]);
    expect((await read("root", api)).json.charts).toEqual(charts);
  });

  it("contains less when a rule fails, never more", async () => {
    const broken = defineRule("broken", () => {
      throw new Error("canary-rule");
    });
    const note = entity("note", { text: string, hidden: string.readable(broken) }).rules({ read: ["everyone"] });
    const closed = entity("closed", { secret: string }).rules({ read: [broken] });
    const api = keelson({ entities: [note, closed], driver: memoryDriver(), logger: noopLogger, plugins: [studio()] });
    onTestFinished(() => api.close());
    const { status, json } = await read(undefined, api);
    expect(JSON.stringify(json)).not.toMatch(/hidden|secret|canary/);
    if (status === 200) expect(names(json.entities)).toEqual(["note"]);
    else expect(json.entities).toBeUndefined();
  });
});

describe("the description and the OpenAPI document", () => {
  const READERS: readonly (readonly [string, User | null, string | undefined])[] = [
    ["a visitor", null, undefined],
    ["a clerk", { id: "ann", role: "clerk" }, "ann"],
    ["an administrator", { id: "root", role: "admin" }, "root"],
  ];
  it.each(READERS)("show %s the same fields and routes", async (_, user, token) => {
    const { paths, components } = await openapiDocument(shop, { as: user ?? "public" });
    const { json } = await read(token);
    for (const described of json.entities) {
      const schema = components.schemas[described.name.charAt(0).toUpperCase() + described.name.slice(1)] as Described;
      const relations = names(described.relations);
      const readable = described.fields.filter((field: Described) => field.read !== undefined);
      const added = (name: string) => name.startsWith("_"); // parameters that only some queries have
      const shown = Object.keys(schema.properties).filter((name) => !added(name));
      expect(new Set([...names(readable), ...relations])).toEqual(new Set(shown));
      const root = `/api/${described.path}`;
      expect(described.rights.create !== undefined).toBe(paths[root]?.post !== undefined);
      expect(described.rights.list !== undefined).toBe(paths[root]?.get !== undefined);
      expect(described.rights.update !== undefined).toBe(paths[`${root}/{id}`]?.patch !== undefined);
      expect(described.rights.delete !== undefined).toBe(paths[`${root}/{id}`]?.delete !== undefined);
      for (const { method, path } of described.actions)
        expect(paths[root + path.replaceAll(":id", "{id}")]?.[method.toLowerCase()]).toBeDefined();
    }
  });
});
