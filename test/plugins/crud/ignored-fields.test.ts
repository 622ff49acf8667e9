import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  bulkUpdateAction,
  cloneAction,
  entity,
  hasMany,
  importAction,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { type JsonResponse, type RunningApp, request, startApp } from "../../support/http.ts";

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const closed = string.optional().writable("admin");
const order = entity("order", { number: string, secret: closed, lines: hasMany(() => line) })
  .actions({ bulk: bulkUpdateAction(), clone: cloneAction(), import: importAction() })
  .rules(all);
const line = entity("line", {
  sku: string,
  note: closed,
  order: belongsTo(() => order),
  parts: hasMany(() => part),
}).rules(all);
const part = entity("part", { name: string, note: closed, line: belongsTo(() => line) }).rules(all);
const many = Array.from({ length: 200 }, (_, index) => `a-field-with-a-long-name-${index}`.replaceAll("-", "_"));
const wide = entity("wide", { name: string, ...Object.fromEntries(many.map((name) => [name, closed])) }).rules(all);

describe("the header X-Ignored-Fields", () => {
  const api = keelson({ entities: [order, line, part, wide], driver: memoryDriver(), logger: noopLogger });
  let server: RunningApp;
  beforeAll(async () => {
    server = await startApp(api);
  });
  afterAll(() => server?.close());

  const send = (method: string, path: string, body: unknown) => request(server.url, method, path, { body });
  const ignoredIn = ({ status, headers }: JsonResponse) => [status, headers.get("x-ignored-fields")];
  const lines = (count: number) => ({
    create: Array.from({ length: count }, () => ({
      sku: "a",
      note: "",
      parts: { create: [{ name: "p", note: "" }] },
    })),
  });
  const named = "lines.create.note, lines.create.parts.create.note";

  it("names a field of nested records once, however many have it", async () => {
    const made = await send("POST", "/api/orders", { number: "1", secret: "", lines: lines(400) });
    expect(ignoredIn(made)).toEqual([201, `secret, ${named}`]);
    const { id } = made.json as { id: string };
    const [first] = (await api.asSystem().line.list({ where: { orderId: id } })).data;
    const update = [{ id: first?.id, sku: "b", note: "" }];
    expect(ignoredIn(await send("PATCH", `/api/orders/${id}`, { lines: { update } }))).toEqual([
      200,
      "lines.update.note",
    ]);
  });

  it("does so for bulk updates, imports and clones", async () => {
    const { id } = await api.asSystem().order.create({ number: "1" });
    const { id: other } = await api.asSystem().order.create({ number: "1" });
    const data = { lines: lines(2) };
    expect(ignoredIn(await send("PUT", "/api/orders/bulk", { ids: [id, other], data }))).toEqual([200, named]);
    const rows = [{ number: "1", ...data }, data, { number: "2", ...data }];
    expect(ignoredIn(await send("POST", "/api/orders/import", rows))).toEqual([200, named]);
    expect(ignoredIn(await send("POST", `/api/orders/${id}/clone`, data))).toEqual([201, named]);
  });

  it("ends with ... if there are more names than fit in it", async () => {
    const sent = Object.fromEntries(many.map((name) => [name, ""]));
    const [status, header] = ignoredIn(await send("POST", "/api/wides", { name: "w", ...sent }));
    const names = String(header).split(", ");
    expect([status, names.at(-1)]).toEqual([201, "..."]);
    expect(many).toEqual(expect.arrayContaining(names.slice(0, -1)));
    expect(String(header).length).toBeLessThanOrEqual(4_005);
    expect(names.length).toBeGreaterThan(100);
  });
});
