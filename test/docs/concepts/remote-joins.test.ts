import { setTimeout as wait } from "node:timers/promises";
import * as keelson from "keelson";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { completeOptions } from "../../../src/plugins/remote-joins/stitch/remote-joins-options.ts";
import { request, startApp } from "../../support/http.ts";
import { openPage, type Page } from "../../support/page.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, namesIn, tableBelow } from "./table-below.ts";

type Fetch = keelson.RemoteService["fetchByIds"];
/** The parts of a returned berth that the tests read. */
interface Berth {
  readonly id: string;
  readonly boat: { readonly id: string } | null;
}

let page: Page;
let registry: { fetchByIds: Fetch };
let usual: Fetch;
let url = "";
let close: () => Promise<void>;
const asked: (readonly string[])[] = [];

async function get(path: string, token: string | undefined = "ann") {
  const answer = await request(url, "GET", `/api/berths${path}`, { token });
  return { ...answer, reason: answer.headers.get("x-remote-errors") };
}

beforeAll(async () => {
  page = openPage("concepts/remote-joins");
  const loaded = await page.load<{ api: keelson.Keelson; registry: { fetchByIds: Fetch } }>("harbour.ts");
  registry = loaded.registry;
  usual = registry.fetchByIds;
  ({ url, close } = await startApp(loaded.api));
});
afterAll(async () => {
  await close();
  page.remove();
});
beforeEach(() => {
  asked.length = 0;
  registry.fetchByIds = (name, ids, options) => {
    asked.push(ids);
    return usual(name, ids, options);
  };
});

/** The page's table, reason by event. */
const reasonFor = (what: string): string | undefined => {
  const row = tableBelow(page.text, "What comes back null").find(([happens]) => happens === what);
  if (row === undefined) throw new Error(`The page does not say what happens when ${what}`);
  return row[2]?.replaceAll("`", "");
};

describe("docs/concepts/remote-joins.md", () => {
  it("shows a real response, requested in one call with each id once", async () => {
    const shown = JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(page.text)?.[1] as string);
    const { json } = await get("?include=boat");
    expect(json.map(({ createdAt: _, updatedAt: __, ...rest }: Record<string, unknown>) => rest)).toEqual(shown);
    expect(asked).toEqual([["b1", "b2", "b3"]]);
    await get("");
    expect(asked).toHaveLength(1);
  });

  it("returns nulls to callers that the rules refuse, and does not call the service", async () => {
    const anonymous = await request(url, "GET", "/api/berths?include=boat");
    expect(anonymous.json.map(({ boat }: Berth) => boat)).toEqual([null, null, null, null, null]);
    expect([asked, anonymous.headers.get("x-remote-errors")]).toEqual([[], null]);
    expect(reasonFor("the rules of the related entity refuse the caller")).toBe("—");
  });

  it("filters by the key, and not by remote fields", async () => {
    expect((await get("?boatId=b1")).json).toHaveLength(2);
    expect((await get("?boat.name=Adele")).status).toBe(400);
    expect((await get("?_sort=boat.name")).status).toBe(400);
  });

  it("gives the reason for a null field, and stops calling a failing service", async () => {
    const path = "/1?include=boat";
    const reasonWith = async (fetchByIds: Fetch) => {
      registry.fetchByIds = fetchByIds;
      const { status, json, reason } = await get(path);
      expect([status, json.boat]).toEqual([200, null]);
      return reason;
    };
    const boom = () => Promise.reject(new Error("boom"));
    expect(await reasonWith(() => [{ id: "b1", name: 7 }])).toBe(
      reasonFor("a record is not what its entity says, or too large"),
    );
    expect(await reasonWith(() => [{ id: "b1", name: "x".repeat(1_048_577) }])).toBe("boat;invalid");
    expect(await reasonWith(() => [])).toBe(null);
    expect(await reasonWith(boom)).toBe(reasonFor("the service throws or rejects"));
    registry.fetchByIds = usual;
    expect((await get(path)).json.boat.id).toBe("b1"); // one failure in a row is not two
    expect(await reasonWith(() => "none" as never)).toBe(reasonFor("its response is not a list"));
    expect(await reasonWith(() => new Promise(() => {}))).toBe(reasonFor("it does not answer in time"));
    // That was the second call: the service works again, and is not called.
    registry.fetchByIds = usual;
    expect((await get(path)).reason).toBe(reasonFor("the breaker is open, or the service is unreachable"));
    await expect.poll(async () => (await get(path)).json.boat?.id, { timeout: 10_000, interval: 50 }).toBe("b1");
  });

  it("aborts late calls", async () => {
    let signal: AbortSignal | undefined;
    registry.fetchByIds = (_, __, options) => {
      signal = options?.signal;
      return new Promise(() => {});
    };
    expect((await get("/1?include=boat")).reason).toBe("boat;timeout");
    expect(signal?.aborted).toBe(true);
    await wait(0);
  });

  it("treats a key that the caller may not read as a missing relation", async () => {
    const { belongsTo, entity, memoryDriver, string } = keelson;
    const boat = entity("boat", { name: string }).rules({ read: ["everyone"] });
    const berth = entity("berth", { boat: belongsTo(() => boat).remote() }).rules({ read: ["everyone"] });
    const masks = keelson.createPlugin({
      id: "no-keys",
      hooks: {
        "access:mask": (draft) => {
          const readable = new Set([...draft.mask.readable].filter((name) => name !== "boatId"));
          draft.mask = { ...draft.mask, readable, filterable: readable };
        },
      },
    });
    const seed = { boat: [{ id: "b1", name: "Adele" }], berth: [{ id: "1", boatId: "b1" }] };
    const status = async (plugins: readonly keelson.Plugin[]) => {
      const host = await startApp(keelson.keelson({ entities: [boat, berth], driver: memoryDriver(seed), plugins }));
      const answer = await request(host.url, "GET", "/api/berths/1?include=boat");
      await host.close();
      return [answer.status, answer.json.boat?.name];
    };
    expect(await status([])).toEqual([200, "Adele"]);
    expect(await status([masks])).toEqual([400, undefined]);
  });

  it("lists options with their defaults, and the members of services and calls", () => {
    const rows = tableBelow(page.text, "Options");
    const { breaker, ...settings } = completeOptions({}, "test");
    const shown = Object.fromEntries(rows.map((row) => [namesIn(row[0])[0], row[2]]));
    expect(shown.breaker).toBe(Object.values(breaker).join(", "));
    for (const [name, value] of Object.entries(settings)) expect(shown[name], name).toBe(String(value));
    expect(Object.keys(shown).sort()).toEqual([...Object.keys(settings), "breaker"].sort());
    const port = "src/gate/ports/remote-service.ts";
    expect(columnOf(page.text, "A service")).toEqual(membersOf(port, "RemoteService"));
    const text = page.text.slice(page.text.indexOf("| `options` of a call |"));
    const calls = [...text.slice(0, text.indexOf("\n\n")).matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(calls.sort()).toEqual(membersOf(port, "RemoteFetchOptions").sort());
  });

  it("does not start with an unregistered service, or a remote list", async () => {
    const { belongsTo, entity, hasMany, memoryDriver } = keelson;
    const boat = entity("boat", {});
    const one = entity("one", { boat: belongsTo(() => boat).remote("none") });
    const many: keelson.EntityLike = entity("many", { ones: hasMany(() => back).remote("none") });
    const back: keelson.EntityLike = entity("back", { many: belongsTo(() => many) });
    for (const entities of [[one], [many, back]]) {
      const app = keelson.keelson({ entities, driver: memoryDriver(), logger: keelson.noopLogger });
      await expect(app.ready).rejects.toThrow(/no service "none"|cannot be .remote/);
      await app.close();
    }
  });
});
