import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { entity, string } from "../../../src/entity/index.ts";
import { createApp, createPlugin, endpoint, type Plugin, type RouteCall } from "../../../src/gate/index.ts";
import { AuthorizationError, ConflictError } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

const thing = entity("thing", { name: string });

function around(id: string, hook: (call: RouteCall) => void | Promise<void>): Plugin {
  return createPlugin({ id, hooks: { "route:around": hook } });
}

/** An app whose endpoint stores a thing, and the recorded events. */
async function boot(...plugins: readonly Plugin[]) {
  const seen: string[] = [];
  const driver = memoryDriver();
  const store = createPlugin({
    id: "store",
    hooks: {
      "route:authorize"(ask) {
        seen.push("rules");
        ask.allowed = ask.rules.includes("everyone");
      },
    },
    endpoints: {
      add: endpoint("/add", {
        method: "POST",
        rules: ["everyone"],
        async handler({ scope, body }) {
          seen.push(`handler, ${scope.isTransaction ? "in" : "outside"} a transaction`);
          await scope.driver.create("thing", { id: "t1", name: ((await body()) as { name: string }).name });
          return { added: true };
        },
      }),
      closed: endpoint("/closed", { method: "POST", rules: [], handler: () => ({}) }),
    },
  });
  const kernel = createApp({ entities: [thing], driver, plugins: [store, ...plugins], logger: recordingLogger() });
  await kernel.ready;
  const send = (url: string, value: unknown = { name: "Keel" }) =>
    kernel.handle({
      method: "POST",
      url,
      headers: { "content-type": "application/json" },
      body: { kind: "parsed", value },
    });
  return { seen, send, count: () => driver.count("thing"), close: () => kernel.close() };
}

describe("route:around", () => {
  it("runs before the rules, and the handler in its scope", async () => {
    const seen: string[] = [];
    const inTransaction = around("within", (call) => {
      const next = call.respond;
      call.respond = (scope) =>
        scope.transaction(async (inner) => {
          seen.push(`before ${call.route.action} ${call.route.plugin}`);
          const { status, body } = await next(inner);
          seen.push(`after ${status} ${body}`);
          return { status: 201, headers: {}, body };
        });
    });
    const app = await boot(inTransaction);
    expect(await app.send("/add")).toMatchObject({ status: 201, body: '{"added":true}' });
    expect(app.seen).toEqual(["rules", "handler, in a transaction"]);
    expect(seen).toEqual(["before add store", 'after 200 {"added":true}']);
    expect(await app.count()).toBe(1);
    await app.close();
  });

  it("rolls back the handler's writes if it throws after seeing the response", async () => {
    const refusing = around("refusing", (call) => {
      const next = call.respond;
      call.respond = (scope) =>
        scope.transaction(async (inner) => {
          await next(inner);
          throw new ConflictError("not this time");
        });
    });
    const app = await boot(refusing);
    expect((await app.send("/add")).status).toBe(409);
    expect(await app.count()).toBe(0);
    await app.close();
  });

  it("calls the function of the plugin that was set up last first", async () => {
    const order: string[] = [];
    const named = (id: string) =>
      around(id, (call) => {
        const next = call.respond;
        call.respond = (scope) => {
          order.push(id);
          return next(scope);
        };
      });
    const app = await boot(named("inner"), named("outer"));
    await app.send("/add");
    expect(order).toEqual(["outer", "inner"]);
    await app.close();
  });

  it("responds with an error that a hook throws, without rules or handler", async () => {
    const app = await boot(
      around("refusing", async () => {
        throw new AuthorizationError("not you");
      }),
    );
    expect((await app.send("/add")).status).toBe(403);
    expect(app.seen).toEqual([]);
    await app.close();
  });

  it("receives the body that the handler reads, read once", async () => {
    const bodies: unknown[] = [];
    const app = await boot(
      around("reading", async (call) => {
        bodies.push(await call.body());
      }),
    );
    expect((await app.send("/add", { name: "Rib" })).status).toBe(200);
    expect(bodies).toEqual([{ name: "Rib" }]);
    await app.close();
  });

  it("does not replace the route's rules", async () => {
    const app = await boot(around("watching", () => {}));
    expect((await app.send("/closed")).status).toBe(401);
    await app.close();
  });
});
