// What GraphQL, MCP and JSON:API cost per request, as the example plugins serve them, next to Keelson's own routes.
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { parseArgs } from "node:util";
import { createAsk } from "./ask.ts";
import { buildServers } from "./build.ts";
import { canPin, loadCore, pin } from "./cores.ts";
import { openDatabase } from "./database.ts";
import { markdownTable } from "./markdown-table.ts";
import { type Bench, measure, type Running, type Sample } from "./measure.ts";
import { type Post, postCount, userCount } from "./model.ts";
import { authorIndex, postId, seedPost, seedPosts, userId } from "./seed.ts";
import { sendBriskly } from "./send-briskly.ts";
import { loadResult } from "./sent.ts";
import { startServer } from "./server-process.ts";
import { type Figure, medianOf, ratioOf } from "./statistics.ts";
import { jsonHeaders, type LoadRequest } from "./workloads.ts";

const WORKLOADS = ["get", "list", "create"] as const;
type Workload = (typeof WORKLOADS)[number];

/** What is asked for: a post by its id, the 20 posts of an author, or to store a post. */
interface Questions {
  readonly get: string;
  readonly list: string;
  readonly create: { readonly title: string; readonly body: string; readonly published: boolean };
}

/** How a surface is asked, and how its answer reads. */
interface Surface {
  readonly id: string;
  readonly note: string;
  readonly requests: {
    readonly [W in Workload]: (question: Questions[W]) => Pick<LoadRequest, "method" | "path"> & { body?: unknown };
  };
  /** The post, or the posts, in a good answer. */
  read(body: never, workload: Workload): unknown;
}

const graphqlQuery = (query: string, variables: object) =>
  ({ method: "POST", path: "/graphql", body: { query, variables } }) as const;
const fields = "{ id title body published views authorId createdAt updatedAt }";

const toolCall = (name: string, given: object) => {
  const params = { name, arguments: given };
  return { method: "POST", path: "/mcp", body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } } as const;
};

interface Resource {
  readonly id: string;
  readonly attributes: object;
}
const recordOf = ({ id, attributes }: Resource): object => ({ id, ...attributes });

const REST: Surface = {
  id: "keelson-node",
  note: "REST",
  requests: {
    get: (id) => ({ method: "GET", path: `/api/posts/${id}` }),
    list: (authorId) => ({ method: "GET", path: `/api/posts?authorId=${authorId}&_start=0&_end=20&_total=none` }),
    create: (body) => ({ method: "POST", path: "/api/posts", body }),
  },
  read: (body) => body,
};

const SURFACES: readonly Surface[] = [
  REST,
  {
    id: "surface-json-api",
    note: "JSON:API",
    requests: {
      get: REST.requests.get,
      list: (author) => ({ method: "GET", path: `/api/posts?filter%5BauthorId%5D=${author}&page%5Blimit%5D=20` }),
      create: (attributes) => ({ method: "POST", path: "/api/posts", body: { data: { type: "post", attributes } } }),
    },
    read: ({ data }: { data: Resource | readonly Resource[] }) =>
      Array.isArray(data) ? data.map(recordOf) : recordOf(data as Resource),
  },
  {
    id: "surface-graphql",
    note: "GraphQL",
    requests: {
      get: (id) => graphqlQuery(`query ($id: ID!) { post(id: $id) ${fields} }`, { id }),
      list: (authorId) =>
        graphqlQuery(`query ($where: JSON) { posts(where: $where, limit: 20) ${fields} }`, { where: { authorId } }),
      create: (data) => graphqlQuery(`mutation ($data: PostInput!) { createPost(data: $data) ${fields} }`, { data }),
    },
    read: ({ data }: { data: Readonly<Record<string, unknown>> }, workload) =>
      data[{ get: "post", list: "posts", create: "createPost" }[workload]],
  },
  {
    id: "surface-mcp",
    note: "MCP",
    requests: {
      get: (id) => toolCall("get_post", { id }),
      list: (authorId) => toolCall("list_post", { where: { authorId }, limit: 20 }),
      create: (data) => toolCall("create_post", { data }),
    },
    read: ({ result }: { result: { content: readonly [{ text: string }] } }) => JSON.parse(result.content[0].text),
  },
];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    seconds: { type: "string" },
    surfaces: { type: "string" },
  },
});
const wanted = values.surfaces?.split(",").map((name) => `surface-${name.trim()}`);
const surfaces = SURFACES.filter((one) => one === REST || (wanted?.includes(one.id) ?? true));
const options = {
  before: undefined,
  beforeOn: "keelson-node",
  contenders: surfaces,
  workloads: WORKLOADS,
  rounds: Number(values.rounds ?? (values.quick ? 1 : 7)),
  seconds: Number(values.seconds ?? (values.quick ? 0.5 : 2)),
  warmUpSeconds: values.quick ? 0.2 : 0.6,
  firstWarmUpSeconds: values.quick ? 0.4 : 10,
  connections: 32,
  starts: 1,
  complete: false,
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** A request by a user, whose token every surface is sent, because MCP requires one. */
function requestOf<W extends Workload>(surface: Surface, workload: W, question: Questions[W], user: number) {
  const { body, ...request } = surface.requests[workload](question);
  return { ...request, headers: jsonHeaders(user), ...(body !== undefined && { body: JSON.stringify(body) }) };
}

/** Requests differ, so that no answer can come from a cache of the last one. */
function requestsOf(surface: Surface, workload: Workload, connections: number): LoadRequest[][] {
  const body = "The keel is laid before the ribs are raised. ".repeat(5);
  const questions: { readonly [W in Workload]: (index: number) => Questions[W] } = {
    get: (index) => postId((index * 9973) % postCount),
    list: (index) => userId((index * 9973) % userCount),
    create: (index) => ({ title: `New post ${index}`, body, published: index % 2 === 0 }),
  };
  const each = Array.from({ length: 2_048 }, (_, index) =>
    requestOf(surface, workload, questions[workload](index) as never, index % userCount),
  );
  return Array.from({ length: connections }, (_, first) => each.filter((_, index) => index % connections === first));
}

/** @throws Error at the first answer that has other records than it should */
async function checkSurface(surface: Surface, port: number): Promise<void> {
  const ask = createAsk(port);
  const answer = async <W extends Workload>(workload: W, question: Questions[W], status = 200): Promise<unknown> => {
    const { path, ...asking } = requestOf(surface, workload, question, 7);
    const { text } = await ask.plain(status, path, asking as Parameters<typeof ask.plain>[2]);
    return surface.read(JSON.parse(text) as never, workload);
  };
  deepStrictEqual(await answer("get", postId(4_321)), seedPost(4_321));
  const own = seedPosts().filter((_, index) => authorIndex(index) === 11);
  strictEqual(own.length, 20);
  deepStrictEqual(await answer("list", userId(11)), own);
  const given = { title: "A new post", body: "Its body.", published: true };
  const status = surface.requests.create(given).path.startsWith("/api") ? 201 : 200;
  const created = (await answer("create", given, status)) as Post;
  const { id, createdAt, updatedAt, ...rest } = created;
  deepStrictEqual(rest, { ...given, views: 0, authorId: userId(7) });
  deepStrictEqual(await answer("get", id), created);
}

function table(title: string, samples: readonly Sample[], figure: Figure, digits: number): void {
  const cells = ({ id }: Surface, workload: Workload): string[] => {
    const own = medianOf(samples, id, workload, figure)?.toFixed(digits) ?? "–";
    const ratio = ratioOf(samples, id, REST.id, workload, figure);
    if (id === REST.id || ratio === undefined) return [own, "1"];
    const [median, ...range] = [ratio.median, ratio.min, ratio.max].map((one) => one.toFixed(2));
    return [own, `${median} (${range.join("–")})`];
  };
  const head = [title, ...WORKLOADS.flatMap((workload) => [workload, "× REST"])];
  const rows = surfaces.map((one) => [one.note, ...WORKLOADS.flatMap((workload) => cells(one, workload))]);
  say(`\n${markdownTable(head, rows)}`);
}

async function run(): Promise<void> {
  pin(process.pid, loadCore);
  await buildServers(
    surfaces.map(({ id }) => id),
    undefined,
  );
  const database = await openDatabase();
  const running: Running[] = [];
  try {
    const surfaceAt = new Map<number, Surface>();
    for (const surface of surfaces) {
      const server = await startServer(surface.id);
      running.push({ contender: surface, server });
      surfaceAt.set(server.port, surface);
      await checkSurface(surface, server.port);
      await database.restore(surface.id);
      say(`${surface.note}: answers are right`);
    }
    const bench: Bench = {
      options,
      database,
      load: {
        async run(job) {
          const dealt = requestsOf(surfaceAt.get(job.port) as Surface, job.workload as Workload, job.connections);
          // Some surfaces report errors with status 200; only records have dates.
          return loadResult(await sendBriskly(job, dealt, (body) => body.includes("createdAt")));
        },
        stop() {},
      },
      running,
      report: ({ workload, contender, round, cpuUs, busy, p50Ms }) =>
        say(
          `round ${round + 1}  ${workload.padEnd(8)}${contender.padEnd(18)}${cpuUs.toFixed(0).padStart(6)} µs CPU  busy ${(busy * 100).toFixed(0)} %  p50 ${p50Ms.toFixed(2)} ms`,
        ),
    };
    const samples = await measure(bench);
    say("with one connection");
    const { warmUpSeconds } = options;
    const oneConnection = await measure({
      ...bench,
      options: { ...options, connections: 1, firstWarmUpSeconds: warmUpSeconds },
    });
    table("server CPU, µs", samples, ({ cpuUs }) => cpuUs, 0);
    table("p50 with one connection, ms", oneConnection, ({ p50Ms }) => p50Ms, 2);
    if (!canPin) say("\nProcesses were not tied to cores.");
    if (values.quick) say("\nA quick run: these figures show that it works and nothing more.");
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
    await database.close();
  }
}

try {
  await run();
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
