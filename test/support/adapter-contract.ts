import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../src/adapters/node/index.ts";
import { BODY_CASES } from "./adapter-body-cases.ts";
import {
  type AdapterCase,
  ada,
  bare,
  jsonType,
  type OwnAnswers,
  type Parser,
  type Places,
  postJson,
} from "./adapter-case.ts";
import { DOOR_CASES } from "./adapter-door-cases.ts";
import { ANSWER_CASES, TARGET_CASES } from "./adapter-target-cases.ts";
import { type ContractApp, type ContractAppOptions, createContractApp } from "./contract-app.ts";
import { rawRequest, request, requestBytes } from "./http.ts";
import { headerOf, type RawResponse } from "./raw-response.ts";
import { amount, oneOf } from "./suite.ts";

const REQUESTS = amount(40, 200);
/** The number of hosts that share the cases. */
const SHARES = [0, 1, 2, 3, 4];

/** A server that runs the contract's app. */
export interface Host extends Places {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a host with its own app. */
export type StartHost = (options?: ContractAppOptions) => Promise<Host>;

/** A host in this process. */
export function hosting(put: (api: ContractApp) => Promise<Host>): StartHost {
  return async (options) => put(await createContractApp(options));
}

/** The reference host for all comparisons. */
export const startNode = hosting(async (api) => {
  const { port, close } = await serve(api, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 2_000,
  });
  return { port, close, root: "/api", endpoints: "" };
});

/** How a host, or the middleware in front of its adapter, differs from the reference. */
export interface HostOptions {
  /** The body parser in front of the adapter. */
  readonly parser?: Parser;
  /** The host's number among similar hosts: each runs a share of the cases; the long suite runs all of them. */
  readonly turn?: number;
  /** Responses that the host sends itself. */
  readonly own?: OwnAnswers;
  /** Headers that the host may add or leave out. */
  readonly volatile?: readonly string[];
  /** Tests that the host cannot run, by title, with the reason. */
  readonly without?: Readonly<Record<string, string>>;
  /** Whether closing the host closes the app. @default true */
  readonly closesApp?: boolean;
}

/** These headers depend on time, connection or host, not on the API. */
const VOLATILE = new Set(["date", "connection", "keep-alive", "x-request-id", "x-powered-by"]);
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** A response without the parts that may differ between two hosts: ids, times, and the mount path. */
function comparable(
  { status, headers, bytes, complete }: RawResponse,
  { root }: Places,
  alsoVolatile: readonly string[] = [],
) {
  const plain = (text: string) =>
    text.replaceAll(`${root}/`, "<root>/").replace(UUID, "<id>").replace(INSTANT, "<time>");
  const kept = headers
    .filter(([name]) => !VOLATILE.has(name) && !alsoVolatile.includes(name))
    .map(([name, value]) => [name, plain(value)] as const);
  // The mount path makes a path in a body or a header longer.
  const lengthless = kept.filter(([name, value]) => name !== "content-length" || value === "0");
  const sorted = lengthless.sort(([a], [b]) => a.localeCompare(b));
  return { status, headers: sorted, body: plain(bytes.toString("latin1")), complete };
}

async function single(host: Host, bytes: string | Buffer): Promise<RawResponse> {
  const responses = await rawRequest(host.port, bytes);
  expect(responses).toHaveLength(1);
  return responses[0] as RawResponse;
}

/** The contract of all adapters: for the same request bytes, the same response bytes as node:http. */
export function testAdapter(
  name: string,
  start: StartHost,
  { parser, turn, own = {}, volatile = [], without = {}, closesApp = true }: HostOptions = {},
): void {
  describe(`the contract of adapters, on ${name}`, () => {
    let host: Host;
    let node: Host;
    beforeAll(async () => {
      [host, node] = await Promise.all([start(), startNode()]);
    });
    afterAll(() => Promise.all([host?.close(), node?.close()]));

    const lost = ({ lostBy, title }: AdapterCase) =>
      (parser !== undefined && lostBy?.includes(parser)) || Object.hasOwn(without, title);
    const check = (title: string, test: () => Promise<void>): void => {
      if (!Object.hasOwn(without, title)) it(title, test);
    };
    const cases = [...TARGET_CASES, ...ANSWER_CASES, ...DOOR_CASES, ...BODY_CASES].filter((one) => !lost(one));
    const isOfTurn = (index: number): boolean =>
      turn === undefined || oneOf(index, SHARES).includes(turn % SHARES.length);
    const same = (response: RawResponse, at: Host) => comparable(response, at, volatile);
    const expectHeaders = (response: RawResponse, headers: AdapterCase["headers"] = {}) => {
      for (const [wanted, value] of Object.entries(headers))
        if (!volatile.includes(wanted)) expect([wanted, headerOf(response, wanted)]).toEqual([wanted, value]);
    };

    // In order, because later cases write.
    for (const { title, bytes, status, code, headers } of cases.filter((_, index) => isOfTurn(index))) {
      const answer = own[title];
      if (answer !== undefined)
        it(`${title}: ${answer.status} by the host itself: ${answer.why}`, async () => {
          const response = await single(host, bytes(host));
          expect(response).toMatchObject({ status: answer.status, complete: true });
          expectHeaders(response, answer.headers);
        });
      else
        it(`${title}: ${status}, as on node:http`, async () => {
          const response = await single(host, bytes(host));
          expect(response).toMatchObject({ status, complete: true });
          if (code !== undefined && response.body !== "")
            expect(JSON.parse(response.body)).toMatchObject({ code, status });
          expectHeaders(response, headers);
          expect(headerOf(response, "x-content-type-options")).toBe("nosniff");
          expect(headerOf(response, "x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
          const length = headerOf(response, "content-length");
          if (response.bytes.length > 0 && length !== undefined) expect(Number(length)).toBe(response.bytes.length);
          expect(same(response, host)).toEqual(same(await single(node, bytes(node)), node));
        });
    }

    it("defines no host response for a case that does not exist", () => {
      const titles = new Set(cases.map(({ title }) => title));
      expect(Object.keys(own).filter((title) => !titles.has(title))).toEqual([]);
    });

    it("sends the headers of GET and no body for HEAD", async () => {
      for (const path of ["/films", "/films/f1", "/films/nobody"]) {
        const got = await single(host, bare("GET", path)(host));
        const head = await single(host, bare("HEAD", path)(host));
        expect(head.body).toBe("");
        expect(same(head, host)).toEqual({ ...same(got, host), body: "" });
        expect(headerOf(head, "content-length")).toBe(headerOf(got, "content-length"));
      }
    });

    it("creates, reads, updates, lists and deletes as node:http does", async () => {
      const story = async (at: Host) => {
        const created = await single(at, postJson('{"title":"Dune","year":1984}')(at));
        const { id } = JSON.parse(created.body);
        expect(headerOf(created, "location")).toBe(`${at.root}/films/${id}`);
        const write = (method: string, body: string) =>
          requestBytes(method, `${at.root}/films/${id}`, [ada, jsonType, `Content-Length: ${body.length}`], body);
        const rest: RawResponse[] = [];
        for (const bytes of [
          bare("GET", `/films/${id}`)(at),
          write("PUT", '{"year":2021}'),
          write("PATCH", '{"title":"Dune: Part One"}'),
          write("PATCH", '{"year":"soon"}'),
          bare("GET", "/films?year=2021")(at),
          bare("DELETE", `/films/${id}`)(at),
          bare("DELETE", `/films/${id}`, ada)(at),
          bare("GET", `/films/${id}`)(at),
        ])
          rest.push(await single(at, bytes));
        return [created, ...rest].map((response) => same(response, at));
      };
      const answers = await story(host);
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 400, 200, 401, 200, 404]);
      expect(answers).toEqual(await story(node));
    });

    check("twenty pipelined requests: answers in their order on one connection", async () => {
      const unread = bare("POST", "/films", jsonType, "Content-Length: 2", "Connection: keep-alive");
      const body = Buffer.from("{}");
      const alive = (path: string) => Buffer.from(bare("GET", path, "Connection: keep-alive")(host));
      const requests = Array.from({ length: 19 }, (_, index) =>
        index % 5 === 4 ? Buffer.concat([Buffer.from(unread(host)), body]) : alive(`/films/f${(index % 4) + 1}`),
      );
      const responses = await rawRequest(
        host.port,
        Buffer.concat([...requests, Buffer.from(bare("GET", "/films/f1")(host))]),
      );
      const outcome = ({ status, body: text }: RawResponse) => (status === 200 ? JSON.parse(text).id : status);
      const round = ["f1", "f2", "f3", 404, 401];
      const expected = Array.from({ length: 19 }, (_, index) => (index % 5 === 4 ? 401 : round[index % 4]));
      expect(responses.map(outcome)).toEqual([...expected, "f1"]);
    });

    check("a body longer than announced: the rest is no part of it, nor a request", async () => {
      const film = '{"title":"Dune"}';
      const bytes = postJson(`${film}garbage`, `Content-Length: ${film.length}`, "Connection: keep-alive")(host);
      // The server may still answer the good request; the garbage may get nothing except a 400.
      const statuses = (await rawRequest(host.port, bytes)).map(({ status }) => status);
      expect(["201", "400", "201,400"]).toContain(String(statuses));
    });

    check("a client that goes away in the middle of its body: nothing is written, and the server goes on", async () => {
      const count = async () => headerOf(await single(host, bare("GET", "/films?_limit=1")(host)), "x-total-count");
      const before = await count();
      const half = postJson('{"title":"Half"}', "Content-Length: 100")(host);
      const reset = connect(host.port, "127.0.0.1");
      await once(reset, "connect");
      reset.write(half, () => reset.resetAndDestroy());
      await once(reset, "close");
      const ended = connect(host.port, "127.0.0.1").on("error", () => {});
      ended.end(half);
      ended.resume();
      await once(ended, "close");
      expect(await count()).toBe(before);
    });

    const seen = async (): Promise<Record<string, unknown>> =>
      (await request(`http://127.0.0.1:${host.port}`, "GET", `${host.endpoints}/answers/seen`)).json;
    const ask = async (path: string) => {
      const socket = connect(host.port, "127.0.0.1").on("error", () => {});
      await once(socket, "connect");
      socket.write(requestBytes("GET", `${host.endpoints}/answers${path}`));
      return socket;
    };

    check("a client that goes away while it waits: the request's signal says so", async () => {
      const socket = await ask("/wait");
      await expect.poll(seen, { timeout: 20_000 }).toMatchObject({ waiting: 1, aborted: 0 });
      socket.destroy();
      await expect.poll(seen, { timeout: 20_000 }).toMatchObject({ waiting: 1, aborted: 1 });
    });

    check("a client that reads slowly: a stream waits for it, and ends when it goes away", async () => {
      const socket = await ask("/chunks");
      await once(socket, "data");
      socket.pause();
      let sent: unknown[] = [];
      const settled = async () => {
        sent = [...sent.slice(-4), (await seen()).sent];
        return sent.length === 5 && new Set(sent).size === 1;
      };
      await expect.poll(settled, { timeout: 20_000 }).toBe(true);
      expect(await seen()).toMatchObject({ all: false, ended: 0 });
      socket.destroy();
      await expect.poll(seen, { timeout: 20_000 }).toMatchObject({ all: false, ended: 1 });
    });

    it.runIf(closesApp)("ends an endless stream when the app closes, without waiting for it", async () => {
      const closing = await start();
      const socket = connect(closing.port, "127.0.0.1").on("error", () => {});
      socket.write(requestBytes("GET", `${closing.endpoints}/answers/ticks`));
      await once(socket, "data");
      await Promise.all([closing.close(), once(socket, "close")]);
    });

    check("a malformed request line: 400, and the connection is closed", async () => {
      const [response, ...more] = await rawRequest(host.port, "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n");
      expect(response?.status).toBe(400);
      expect(more).toEqual([]);
    });

    it(`keeps ${REQUESTS} parallel requests of two callers apart`, async () => {
      const busy = await start({ slow: true });
      try {
        const url = `http://127.0.0.1:${busy.port}`;
        const path = `${busy.root}/notes`;
        const outcomes = await Promise.all(
          Array.from({ length: REQUESTS }, async (_, index) => {
            const token = index % 2 === 0 ? "ada" : "bob";
            if (index % 4 < 2) {
              const { status, json } = await request(url, "POST", path, { token, body: { text: `${token} ${index}` } });
              return [token, status, [json]] as const;
            }
            const { status, json } = await request(url, "GET", path, { token });
            return [token, status, json] as const;
          }),
        );
        for (const [token, status, notes] of outcomes) {
          expect([200, 201]).toContain(status);
          for (const { authorId, text } of notes) expect([authorId, text.split(" ")[0]]).toEqual([token, token]);
        }
        const { json } = await request(url, "GET", path, { token: "bob" });
        expect(json).toHaveLength(REQUESTS / 4);
      } finally {
        await busy.close();
      }
    });
  });
}
