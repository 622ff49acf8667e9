import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { entity, int, keelson, memoryDriver, noopLogger, string } from "keelson";
import { toNodeHandler } from "keelson/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { mcp } from "../src/index.ts";

const note = entity("note", { text: string, likes: int.default(0), secret: string.optional().readable("admin") }).rules(
  {
    read: ["everyone"],
    create: ["authenticated"],
    update: ["admin"],
  },
);
const diary = entity("diary", { text: string }).rules({ read: ["admin"] });

async function boot(options: Parameters<typeof mcp>[0] = {}) {
  const api = keelson({
    entities: [note, diary],
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: [mcp(options)],
    getUser: ({ headers }) => {
      const name = headers.get("authorization")?.slice("Bearer ".length);
      return name === undefined ? null : { id: name, role: name === "root" ? "admin" : "user" };
    },
  });
  await api.asSystem().note.create({ id: "n1", text: "one", likes: 2, secret: "hidden" });
  await api.asSystem().note.create({ id: "n2", text: "two", likes: 5 });
  await api.asSystem().diary.create({ id: "d1", text: "dear diary" });
  const server = createServer(toNodeHandler(api)).listen(0);
  await once(server, "listening");
  onTestFinished(async () => {
    await api.close();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const connect = async (name: string) => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const headers = { authorization: `Bearer ${name}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never);
    onTestFinished(() => client.close());
    const call = async (tool: string, given: Record<string, unknown> = {}) => {
      const { content, isError = false } = await client.callTool({ name: tool, arguments: given });
      const text = (content as { text: string }[])[0]?.text ?? "";
      return isError ? text : JSON.parse(text);
    };
    return { client, call };
  };
  return { api, url, connect };
}

describe("the Model Context Protocol", () => {
  it("has tools that read, for the SDK's own client", async () => {
    const { client, call } = await (await boot()).connect("ann");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      ["note", "diary"].flatMap((name) => [`list_${name}`, `get_${name}`, `count_${name}`]),
    );
    expect(await call("list_note", { where: { likes: { gt: 3 } } })).toMatchObject([{ id: "n2" }]);
    expect(await call("get_note", { id: "n1" })).toMatchObject({ text: "one" });
    expect(await call("count_note")).toBe(2);
  });

  it("lets an agent do what its user may do, and no more", async () => {
    const { api, connect } = await boot({ writes: true });
    const [ann, root] = [await connect("ann"), await connect("root")];
    expect(await ann.call("get_note", { id: "n1" })).not.toHaveProperty("secret");
    expect(await root.call("get_note", { id: "n1" })).toMatchObject({ secret: "hidden" });
    expect(await ann.call("get_diary", { id: "d1" })).toBe("Permission denied");
    expect(await ann.call("create_note", { data: { text: "three" } })).toMatchObject({ text: "three", likes: 0 });
    expect(await ann.call("create_note", { data: { text: 3 } })).toContain("Validation failed");
    expect(typeof (await ann.call("update_note", { id: "n1", data: { likes: 9 } }))).toBe("string");
    expect(await root.call("update_note", { id: "n1", data: { likes: 9 } })).toMatchObject({ likes: 9 });
    expect(await api.driver.count("note")).toBe(3);
  });

  it("has no tools that change records unless it is told so, and limits lists", async () => {
    const { call } = await (await boot({ limit: 1 })).connect("root");
    expect(await call("create_note", { data: { text: "no" } })).toContain("There is no tool");
    expect(await call("list_note", { limit: 50 })).toHaveLength(1);
  });

  it("is closed to anonymous callers", async () => {
    const { url } = await boot();
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    expect((await fetch(url, init)).status).toBe(401);
  });
});
