import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, KeelsonClientError } from "../../src/client/index.ts";
import { archiveAction, bool, entity, int, keelson, memoryDriver, noopLogger, string } from "../../src/index.ts";
import { startApp } from "../support/http.ts";

const rules = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const stock = entity("stock", { left: int.default(0), archived: bool.default(false) })
  .versioned()
  .rules(rules)
  .actions({ archive: archiveAction });
const note = entity("note", { text: string }).rules(rules);
const api = keelson({ entities: [stock, note], driver: memoryDriver(), logger: noopLogger });

let baseUrl: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const app = await startApp(api);
  baseUrl = `${app.url}/api`;
  close = app.close;
});
afterAll(() => close());
/** A client that records its requests. */
function open() {
  const asked: string[] = [];
  const client = createClient<typeof api>({
    baseUrl,
    fetch(url, init) {
      asked.push(`${init.method} ${new Headers(init.headers).get("if-match") ?? ""}`.trim());
      return fetch(url, init);
    },
  });
  return { client, asked };
}
const changed = { code: "PRECONDITION_FAILED", status: 412 };

describe("ifVersion", () => {
  it("is sent with calls that change a record", async () => {
    const { client, asked } = open();
    const { id, version } = await client.stock.create({});
    expect((await client.stock.update(id, { left: 5 }, { ifVersion: version })).version).toBe(2);
    await client.stock.archive(id, undefined, { ifVersion: 2 });
    await expect(client.stock.update(id, { left: 6 }, { ifVersion: 2 })).rejects.toMatchObject(changed);
    await expect(client.stock.archive(id, undefined, { ifVersion: 2 })).rejects.toMatchObject(changed);
    await expect(client.stock.delete(id, { ifVersion: 2 })).rejects.toMatchObject(changed);
    await client.stock.delete(id, { ifVersion: 3 });
    expect(asked.slice(0, 3)).toEqual(["POST", 'PATCH "1"', 'POST "2"']);
  });
});

describe("modify", () => {
  it("reads, changes and writes the record", async () => {
    const { client, asked } = open();
    const { id } = await client.stock.create({ left: 3 });
    const after = await client.stock.modify(id, async ({ left }) => ({ left: left - 1 }));
    expect([after.left, after.version]).toEqual([2, 2]);
    expect(asked).toEqual(["POST", "GET", 'PATCH "1"']);
  });

  it("starts again when others were faster, so that no change is lost", { timeout: 60_000 }, async () => {
    const { client } = open();
    const { id } = await client.stock.create({});
    const add = () => client.stock.modify(id, ({ left }) => ({ left: left + 1 }), { attempts: 200 });
    await Promise.all(Array.from({ length: 20 }, add));
    const { left, version } = await client.stock.get(id);
    expect([left, version]).toEqual([20, 21]);
  });

  it("leaves the record unchanged when there is nothing to change", async () => {
    const { client, asked } = open();
    const { id } = await client.stock.create({ left: 3 });
    expect((await client.stock.modify(id, () => undefined)).left).toBe(3);
    expect(asked).toEqual(["POST", "GET"]);
  });

  it("gives up after the maximum number of attempts", async () => {
    const { client, asked } = open();
    const { id } = await client.stock.create({});
    const late = async () => {
      await api.asSystem().stock.update(id, { left: 100 });
      return { left: 1 };
    };
    await expect(client.stock.modify(id, late, { attempts: 3 })).rejects.toMatchObject(changed);
    await expect(client.stock.modify(id, late, { attempts: Number.NaN })).rejects.toMatchObject(changed);
    expect(asked.filter((one) => one.startsWith("PATCH"))).toHaveLength(4);
    expect((await client.stock.get(id)).left).toBe(100);
  });

  it("ends with its signal, with an error of the change, and with other refusals", async () => {
    const { client, asked } = open();
    const { id } = await client.stock.create({});
    const controller = new AbortController();
    const reason = new RangeError("enough");
    const late = async () => {
      await api.asSystem().stock.update(id, { left: 100 });
      setTimeout(() => controller.abort(reason), 0);
      return { left: 1 };
    };
    const given = { attempts: 1_000, signal: controller.signal };
    await expect(client.stock.modify(id, late, given)).rejects.toBe(reason);
    const throws = () => {
      throw reason;
    };
    await expect(client.stock.modify(id, throws)).rejects.toBe(reason);
    const before = asked.length;
    await expect(client.stock.modify(id, () => ({ left: 0.5 }))).rejects.toMatchObject({ status: 400 });
    await expect(client.stock.modify("none", () => ({}))).rejects.toMatchObject({ status: 404 });
    expect(asked.slice(before)).toHaveLength(3);
  });

  it("requires records with a version", async () => {
    const { client } = open();
    const { id } = await client.note.create({ text: "one" });
    const modify = client.note.modify as unknown as (id: string, change: () => object) => Promise<unknown>;
    await expect(modify(id, () => ({}))).rejects.toThrow(KeelsonClientError);
    await expect(modify(id, () => ({}))).rejects.toThrow("modify needs records with a version");
  });
});
