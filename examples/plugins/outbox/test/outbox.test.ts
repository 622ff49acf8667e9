import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { action, entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { createTestApp } from "keelson/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { outbox } from "../src/index.ts";

const secret = `whsec_${Buffer.from("a key of some length").toString("base64")}`;
const note = entity("note", { text: string })
  .rules({ create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] })
  .actions({
    fail: action()
      .rules(["everyone"])
      .handler(({ transaction }) =>
        transaction(async ({ driver }) => {
          await driver.create("note", { id: "never", text: "rolled back" });
          throw new Error("no");
        }),
      ),
  });

interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A receiver on its own port. @param statuses of its responses in order; 204 afterwards */
async function receiver(...statuses: number[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers, body });
    response.writeHead(statuses.shift() ?? 204).end();
  }).listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

function boot(url: string) {
  const plugins = [outbox({ url, secret, everyMs: 5 })];
  const app = createTestApp({ entities: [note], driver: memoryDriver(), plugins, logger: noopLogger });
  onTestFinished(() => app.close());
  return app;
}

describe("the outbox", () => {
  it("posts each change once, signed, without values of the record", async () => {
    const { received, url } = await receiver();
    const app = boot(url);
    const { body } = await app.as(null).request("POST", "/api/notes", { text: "secret words" });
    const { id } = body as { id: string };
    await app.as(null).request("PATCH", `/api/notes/${id}`, { text: "others" });
    await app.as(null).request("DELETE", `/api/notes/${id}`);
    await vi.waitFor(() => expect(received).toHaveLength(3), 5_000);
    expect(received.map((one) => JSON.parse(one.body))).toMatchObject(
      ["create", "update", "delete"].map((kind) => ({ type: `note.${kind}`, data: { id } })),
    );
    for (const { headers, body: text } of received) {
      const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`;
      const key = Buffer.from(secret.slice(6), "base64");
      expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
      expect(text).not.toContain("secret words");
    }
    await vi.waitFor(async () => expect(await app.api.driver.count("outboxEntry")).toBe(0), 5_000);
  });

  it("tries again with the same id when the receiver fails", async () => {
    const { received, url } = await receiver(500);
    const app = boot(url);
    await app.as(null).request("POST", "/api/notes", { text: "one" });
    await vi.waitFor(() => expect(received).toHaveLength(2), 5_000);
    expect(received[0]?.headers["webhook-id"]).toBe(received[1]?.headers["webhook-id"]);
  });

  it("announces nothing that was rolled back", async () => {
    const { received, url } = await receiver();
    const app = boot(url);
    expect((await app.as(null).request("POST", "/api/notes/fail")).status).toBe(500);
    await app.as(null).request("POST", "/api/notes", { text: "one" });
    await vi.waitFor(() => expect(received).toHaveLength(1), 5_000);
    expect(received[0]?.body).not.toContain("never");
  });

  it("has no routes for its entries", async () => {
    const { url } = await receiver();
    expect((await boot(url).as({ id: "root", role: "admin" }).request("GET", "/api/outbox-entries")).status).toBe(404);
  });

  it("does not start without an address and a secret", () => {
    expect(() => keelson({ entities: [note], driver: memoryDriver(), plugins: [outbox()] })).toThrow(
      /`url`.*`secret`/s,
    );
  });
});
