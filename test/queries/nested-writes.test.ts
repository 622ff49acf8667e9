import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { idsOf, openShop, refillShop, SHOP, type Shop } from "./shop.ts";

const PLACED = "2026-05-01T00:00:00.000Z";

describe.each(everyDatabase(SHOP, 0))("nested writes, on %s", (_name, open) => {
  let database: TestDatabase;
  let shop: Shop;
  beforeAll(async () => {
    database = await open();
    shop = await openShop(database.driver);
  });
  afterEach(() => refillShop(shop));
  afterAll(async () => {
    await shop?.app.close();
    await database?.drop();
  });

  type Body = Record<string, unknown>;
  const send = async (method: string, path: string, body: unknown, caller = shop.staff) => {
    const answer = await caller.request(method, `/api/${path}`, body);
    return { status: answer.status, body: answer.body as Body, headers: answer.headers };
  };
  const order = (more: Body): Body => ({ number: "n", placedAt: PLACED, customerId: "ann", ...more });
  const counts = async () => {
    const { customer, order: orders, line, tag } = shop.app.api.asSystem();
    return [await customer.count(), await orders.count(), await line.count(), await tag.count()];
  };

  it("create a record with all its related records, in one request", async () => {
    const { status, body } = await send("POST", "orders?include=customer,lines,tags", {
      number: "n",
      placedAt: PLACED,
      customer: { create: { login: "dee", name: "Dee", profile: { create: { bio: "new" } } } },
      lines: {
        create: [
          { sku: "a", quantity: 2 },
          { sku: "b", quantity: 1 },
        ],
      },
      tags: { connect: ["gift"], create: [{ word: "fresh" }] },
    });
    expect([status, body]).toEqual([201, expect.anything()]);
    expect(body).toMatchObject({ customer: { login: "dee" }, lines: [{ sku: "a", orderId: body.id }, { sku: "b" }] });
    expect((body.tags as Body[]).map(({ word }) => word).sort()).toEqual(["fresh", "gift"]);
    const profiles = await shop.staff.request("GET", "/api/profiles?customer.login=dee");
    expect(profiles.body).toMatchObject([{ bio: "new" }]);
  });

  it("change, add, remove and replace related records", async () => {
    const read = async () => {
      const { body } = await shop.staff.request("GET", "/api/orders/o03?include=lines,tags");
      return body as { lines: Body[]; tags: Body[] };
    };
    const [first, second, third] = idsOf((await read()).lines);
    const { status, body } = await send("PATCH", "orders/o03", {
      lines: {
        update: [{ id: first, quantity: 9 }],
        delete: [second],
        create: [{ sku: "new", quantity: 1 }],
        upsert: [
          { where: { sku: "s2" }, create: { sku: "s2", quantity: 1 }, update: { quantity: 7 } },
          { where: { sku: "s9" }, create: { sku: "s9", quantity: 4 }, update: { quantity: 8 } },
        ],
      },
      tags: { connect: ["rush"] },
    });
    expect([status, body]).toEqual([200, expect.anything()]);
    const after = await read();
    expect(after.lines.map(({ sku, quantity }) => `${sku} ${quantity}`).sort()).toEqual([
      "new 1",
      "s0 9",
      "s2 7",
      "s9 4",
    ]);
    expect(idsOf(after.tags)).toEqual(["rush"]);
    expect((await send("PATCH", "orders/o03", { lines: { set: [third] } })).status).toBe(400); // a line requires its order
    await send("PATCH", "orders/o05", { tags: { disconnect: ["rush"] } });
    await send("PATCH", "orders/o04", { tags: { set: ["rush"] }, customer: { update: { city: "Rome" } } });
    const tags = async (id: string) => {
      const { body: found } = await shop.staff.request("GET", `/api/orders/${id}?include=tags,customer`);
      return [idsOf((found as { tags: Body[] }).tags), (found as { customer: Body }).customer.city];
    };
    expect(await tags("o05")).toEqual([["gift"], "Bonn"]);
    expect(await tags("o04")).toEqual([["rush"], "Rome"]);
  });

  it("begin with `set`, for any order of the keywords", async () => {
    const profile = { bio: "p", customer: { create: { login: "fay", name: "Fay" } } };
    const { body } = await send("POST", "profiles?include=customer", profile);
    const { id } = body.customer as Body;
    const moved = await send("PATCH", `customers/${id}?include=orders`, { orders: { connect: ["o01"], set: ["o02"] } });
    expect([moved.status, idsOf(moved.body.orders).sort()]).toEqual([200, ["o01", "o02"]]);
  });

  it("move a record to another one, if the caller may", async () => {
    const [line] = idsOf((await shop.staff.request("GET", "/api/lines?orderId=o01")).body);
    expect((await send("PATCH", "orders/o00", { lines: { connect: [line] } })).status).toBe(200);
    const { body } = await shop.staff.request("GET", `/api/lines/${line}`);
    expect(body).toMatchObject({ orderId: "o00" });
    // It belongs to Bob, who is not involved in Ann's order.
    const [other] = idsOf((await shop.staff.request("GET", "/api/lines?orderId=o03")).body);
    expect((await send("PATCH", "orders/o02", { lines: { connect: [other] } }, shop.ann)).status).toBe(403);
  });

  it("name the place of a failure, and store nothing", async () => {
    const before = await counts();
    const { body } = await send(
      "POST",
      "orders",
      order({
        lines: {
          create: [
            { sku: "a", quantity: 1 },
            { sku: "b", quantity: 0 },
          ],
        },
      }),
    );
    expect(body.errors).toEqual({ "lines.create.1.quantity": expect.any(String) });
    const taken = await send("POST", "orders", order({ tags: { create: [{ word: "new" }, { word: "gift" }] } }));
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining("tags.create.1: ")]);
    const late = await send(
      "POST",
      "orders",
      order({ number: "1000", customerId: undefined, customer: { create: { login: "x", name: "X" } } }),
    );
    expect(late.status).toBe(409);
    const foreign = idsOf((await shop.staff.request("GET", "/api/lines?orderId=o01")).body)[0];
    for (const verb of [{ update: [{ id: foreign, quantity: 5 }] }, { delete: [foreign] }])
      expect((await send("PATCH", "orders/o00", { lines: verb })).status).toBe(404);
    expect(await counts()).toEqual(before);
  });

  it("allow nothing that single requests do not", async () => {
    const before = await counts();
    // Not her order, so she may neither change it nor add a line to it.
    expect(
      (await send("PATCH", "orders/o01", { lines: { create: [{ sku: "a", quantity: 1 }] } }, shop.ann)).status,
    ).toBe(403);
    const line = { sku: "a", quantity: 1 };
    const theirs = { ...order({ customerId: "bob" }), lines: { create: [line] } };
    expect((await send("POST", "orders", theirs, shop.ann)).status).toBe(403);
    // Customers may not write the rating, and the response names it as ignored.
    const own = await send("PATCH", "orders/o00", { customer: { update: { city: "Ulm", rating: 9 } } }, shop.ann);
    expect([own.status, (await shop.app.api.asSystem().customer.get("ann")).rating]).toEqual([400, 3]);
    expect((await send("PATCH", "orders/o00", { customer: { update: { city: "Ulm" } } }, shop.ann)).status).toBe(200);
    expect((await send("POST", "tags", { word: "w", orders: { connect: ["o01"] } }, shop.ann)).status).toBe(400);
    expect(await counts()).toEqual(before);
  });

  it.each<[Body, string]>([
    [{ lines: { create: [3] } }, "lines.create.0"],
    [{ lines: { update: [{ quantity: 3 }] } }, "lines.update.0.id"],
    [{ lines: { create: [{ sku: "a", quantity: 1, orderId: "o01" }] } }, "lines.create.0.orderId"],
    [{ lines: { upsert: [{ sku: "a" }] } }, "lines.upsert.0"],
    [{ lines: { connect: [{}] } }, "lines.connect.0"],
    [{ customer: { set: ["ann"] } }, "customer.set"],
    [{ customer: { connect: ["ann"] } }, "customer.connect"],
    [{ customer: { connect: "ann" }, customerId: "bob" }, "customer"],
    [{ customer: { connect: "no such one" } }, "customerId"],
    [{ tags: { connect: ["none"] } }, "tags.connect"],
    [{ tags: { update: [] } }, "tags.update"],
  ])("refuse %j, and name the place", async (body, place) => {
    const { status, body: answer } = await send("PATCH", "orders/o00", body);
    expect([status, Object.keys((answer.errors as Body) ?? answer)]).toEqual([400, [place]]);
  });

  it("refuse to move a record to another one by a change, and accept the key as it is", async () => {
    const { body } = await shop.staff.request("GET", "/api/orders/o06?include=lines");
    const [line] = (body as { lines: Body[] }).lines;
    const sku = "moved";
    const upsert = { where: { id: line?.id }, create: { sku, quantity: 1 }, update: { orderId: "o01" } };
    for (const [lines, place] of [
      [{ update: [{ id: line?.id, sku, orderId: "o01" }] }, "lines.update.0.orderId"],
      [{ upsert: [upsert] }, "lines.upsert.0.update.orderId"],
    ] as const) {
      const refused = await send("PATCH", "orders/o06", { lines });
      expect([refused.status, refused.body.errors]).toEqual([400, { [place]: "is the id of the record around it" }]);
    }
    const { status } = await send("PATCH", "orders/o06", { lines: { update: [{ ...line, quantity: 5 }] } });
    const { body: after } = await shop.staff.request("GET", `/api/lines/${line?.id}`);
    expect([status, after]).toMatchObject([200, { sku: line?.sku, orderId: "o06", quantity: 5 }]);
  });

  it("are limited in number and in depth", async () => {
    const many = { lines: { create: Array.from({ length: 1_001 }, () => ({ sku: "a", quantity: 1 })) } };
    expect((await send("PATCH", "orders/o00", many)).body.message).toMatch(/At most 1000 related records/);
    const deep = (level: number): Body => ({
      orders: {
        create: [
          order({
            customerId: undefined,
            ...(level > 0 && { customer: { create: { login: `l${level}`, name: "n", ...deep(level - 1) } } }),
          }),
        ],
      },
    });
    expect((await send("POST", "customers", { login: "d", name: "d", ...deep(2) })).body.message).toMatch(
      /3 levels deep/,
    );
  });

  it("that change the same records in any order do not deadlock", async () => {
    const { body } = await shop.staff.request("GET", "/api/lines?orderId_in=o03,o07,o11&_sort=id");
    const ids = idsOf(body);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const some = index % 2 === 0 ? ids : ids.toReversed();
        return send("PATCH", `orders/o0${index % 4}`, { lines: { connect: some } });
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { data } = await shop.app.api.asSystem().line.list({ where: { id: ids } });
    expect([data.length, new Set(data.map(({ orderId }) => orderId)).size]).toEqual([9, 1]);
  });

  it("work the same in the process", async () => {
    const client = shop.app.api.as({ id: "ann", role: "customer" });
    const made = await client.order.create({
      number: "in process",
      placedAt: new Date(PLACED),
      customerId: "ann",
      lines: { create: [{ sku: "a", quantity: 3 }] },
      tags: { connect: ["gift"] },
    });
    expect(await client.line.list({ where: { orderId: made.id } })).toMatchObject({
      data: [{ sku: "a", quantity: 3 }],
    });
    await client.order.update(made.id, { lines: { set: [], create: [{ sku: "b", quantity: 1 }] } }).catch((error) => {
      expect(error).toMatchObject({ code: "VALIDATION_FAILED" });
    });
  });
});
