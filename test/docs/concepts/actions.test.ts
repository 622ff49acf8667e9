import * as keelson from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request, startApp } from "../../support/http.ts";
import { openPage, type Page } from "../../support/page.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, tableBelow } from "./table-below.ts";

const { action, entity, memoryDriver, string } = keelson;

let page: Page;
let url = "";
let api: keelson.Keelson;
let close: () => Promise<void>;

const call = (token: string | undefined, method: string, path: string, body?: unknown) =>
  request(url, method, `/api${path}`, { token, body });

beforeAll(async () => {
  page = openPage("concepts/actions");
  api = (await page.load<{ api: keelson.Keelson }>("invoices.ts")).api;
  ({ url, close } = await startApp(api));
});
afterAll(async () => {
  await close();
  page.remove();
});

describe("docs/concepts/actions.md: the tables", () => {
  it("show real responses", async () => {
    for (const [caller, line, answer] of tableBelow(page.text, "Actions")) {
      const [, method, path] = /^`(\w+) (.*)`$/.exec(line as string) as unknown as [string, string, string];
      const found = await call(caller === "anonymous" ? undefined : caller, method, path);
      const [, status, json] = /^(\d+)(?: `(.*)`)?$/.exec(answer as string) as unknown as [string, string, string?];
      expect(found.status, `${caller} ${line}`).toBe(Number(status));
      if (json !== undefined) expect(found.json).toEqual(JSON.parse(json));
    }
  });

  it("list every method of the builder and every member of a handler's context", () => {
    const methods = Object.getOwnPropertyNames(keelson.ActionBuilder.prototype).filter(
      (name) => name !== "constructor",
    );
    expect(columnOf(page.text, "The builder").sort()).toEqual(methods.sort());
    const given = membersOf("src/plugins/actions/action/action-definition.ts", "ActionContext");
    expect(columnOf(page.text, "What a handler is given").sort()).toEqual(given.sort());
  });

  it("list every prebuilt action with its route and the rules it obeys", () => {
    const prebuilt = Object.keys(keelson).filter((name) => /^\w+Action$/.test(name));
    const rows = tableBelow(page.text, "Prebuilt actions");
    expect(columnOf(page.text, "Prebuilt actions").sort()).toEqual(prebuilt.sort());
    const fields = {
      flag: keelson.bool.default(false),
      archived: keelson.bool.default(false),
      deletedAt: keelson.datetime.optional(),
    };
    const attached = Object.fromEntries(
      prebuilt.map((name) => [
        name === "countAction" ? "count" : name,
        name === "toggleAction" ? keelson.toggleAction("flag") : (keelson as never)[name],
      ]),
    );
    const thing = entity("thing", fields)
      .rules({ read: ["everyone"], create: ["authenticated"], update: ["admin"], delete: [] })
      .actions(attached);
    const app = keelson.keelson({ entities: [thing], driver: memoryDriver() });
    const access = new Map([
      ["everyone", "read"],
      ["authenticated", "create"],
      ["admin", "update"],
      [undefined, "delete"],
    ]);
    for (const [names, route, obeys] of rows) {
      const name = (names as string).replaceAll("`", "");
      const listed = app.routes.find(({ action: of }) => of === (name === "countAction" ? "count" : name));
      const shown = `${listed?.method} ${listed?.path.replace("/api/things", "").replace("toggle-flag", "toggle-<field>")}`;
      expect([`\`${shown}\``, access.get(listed?.rules[0])], name).toEqual([route, obeys]);
    }
    const paths = app.routes.map(({ method, path }) => `${method} ${path}`);
    expect(paths).toEqual(expect.arrayContaining(["POST /api/things/bulk-update", "POST /api/things/bulk-delete"]));
  });
});

describe("docs/concepts/actions.md", () => {
  it("refuses a caller before it reads the body", async () => {
    const broken = (token: string) =>
      fetch(`${url}/api/invoices/i1/pay`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: "{",
      });
    expect([(await broken("ann")).status, (await broken("kim")).status]).toEqual([403, 400]);
  });

  it("pays an invoice once, and hides the hidden fields of its payer", async () => {
    expect((await call("kim", "POST", "/invoices/i1/pay", { amount: 4 })).status).toBe(409);
    const paid = await call("kim", "POST", "/invoices/i1/pay", { amount: 5 });
    expect([paid.status, paid.json.state]).toEqual([200, "paid"]);
    expect((await call("kim", "POST", "/invoices/i1/pay", { amount: 5 })).status).toBe(409);
    const payer = await call("ann", "GET", "/invoices/i1/payer");
    expect(payer.json).toMatchObject({ id: "ann", name: "Ann" });
    expect(payer.json.iban).toBeUndefined();
    const kim = api.as({ id: "kim", role: "clerk" }) as unknown as Record<
      "invoice",
      Record<"pay", (id: string, given: object) => Promise<unknown>>
    >;
    expect(await kim.invoice.pay("i2", { amount: 7 })).toMatchObject({ state: "paid" });
  });

  it("admits no caller to a collection by a rule about records", async () => {
    const mine = keelson.defineRule("concept-mine", ({ user }) => user !== null && { name: user.id });
    const thing = entity("thing", { name: string })
      .rules({ read: [mine], create: ["everyone"] })
      .actions({
        own: action()
          .get()
          .rules(mine)
          .handler(() => 1),
        inherited: action()
          .get()
          .handler(() => 1),
        nothing: action()
          .rules("everyone")
          .handler(() => undefined),
        wrong: action()
          .rules("everyone")
          .output({ n: keelson.int })
          .handler(() => ({ n: "x" })),
      });
    const app = keelson.keelson({
      entities: [thing],
      driver: memoryDriver(),
      getUser: () => ({ id: "ann" }),
      logger: keelson.noopLogger,
    });
    const host = await startApp(app);
    const statusOf = async (method: string, path: string) =>
      (await request(host.url, method, `/api/things${path}`)).status;
    expect(await statusOf("GET", "/own")).toBe(403);
    expect(await statusOf("GET", "/inherited")).toBe(200);
    expect(await statusOf("POST", "/nothing")).toBe(204);
    expect(await statusOf("POST", "/wrong")).toBe(500);
    await host.close();
  });

  it("does not start with the listed mistakes", () => {
    const start =
      (
        actions: Record<string, keelson.ActionBuilder | object>,
        change = (it: keelson.EntityBuilder<string, object>) => it,
      ) =>
      () => {
        const thing = change(entity("thing", { name: string }).rules({ read: [] }) as never);
        keelson.keelson({ entities: [thing.actions(actions as never) as never], driver: memoryDriver() });
      };
    const done = () => 1;
    expect(start({ a: action() })).toThrow(/no handler/);
    expect(start({ a: { handler: done, pth: "/x" } })).toThrow(/there is no "pth"/);
    expect(start({ a: action().rules("owner").handler(done) })).toThrow(/needs a record/);
    expect(start({ a: action().get().input({ n: string }).handler(done) })).toThrow(/GET has no body/);
    expect(start({ a: action("x").handler(done), b: action("x").handler(done) })).toThrow(/x/);
    expect(start({ a: action().handler(done) }, (it) => it.internal() as never)).toThrow(/internal/);
    expect(start({ a: keelson.archiveAction })).toThrow(/archived/);
    for (const name of ["list", "get", "create", "update", "delete", "count", "then"])
      expect(start({ [name]: action().handler(done) }), name).toThrow(/name/);
  });
});
