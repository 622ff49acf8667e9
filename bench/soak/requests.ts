import type { Written } from "./journal.ts";
import { complain, isExpected, type Lane, rightBody } from "./lane.ts";
import { CALLERS, COUNTERS } from "./soak-api.ts";
import type { SoakRequest } from "./soak-client.ts";

type Work = (lane: Lane) => Promise<void>;

/** Records that each lane has, about. */
const RECORDS = 40;
const NOTES = "/api/notes";
const etag = ({ version }: Written): string => `"${version}"`;

function any<T>(lane: Lane, list: readonly T[]): T {
  return list[lane.random(list.length)] as T;
}

/** Makes a record where there is none yet to work on. */
function onRecord(work: (lane: Lane, record: Written) => Promise<void>): Work {
  return (lane) => {
    const record = lane.records[lane.random(lane.records.length)];
    return record === undefined ? create(lane) : work(lane, record);
  };
}

const same =
  (record: Written) =>
  (body: Written): boolean =>
    (["id", "title", "size", "done", "version"] as const).every((name) => body[name] === record[name]);

async function create(lane: Lane, kind = "create"): Promise<void> {
  const number = lane.next();
  const body = {
    title: `note ${lane.number}-${number}`,
    size: number,
    body: "soaked ".repeat(1 + lane.random(150)).trimEnd(),
  };
  const sent: SoakRequest = { method: "POST", path: NOTES, token: lane.token, body };
  const answer = await (kind === "slow create" ? lane.client.askSlowly(sent) : lane.client.ask(sent));
  const made = rightBody<Written>(lane.tally, kind, answer, 201, ({ title }) => title === body.title);
  if (made === undefined) return;
  const record = { id: made.id, title: body.title, size: number, done: false, version: made.version };
  lane.records.push(record);
  lane.journal.created(record);
}

const get = onRecord(async (lane, record) => {
  const answer = await lane.client.ask({ method: "GET", path: `${NOTES}/${record.id}` });
  rightBody(lane.tally, "get", answer, 200, same(record));
});

const notModified = onRecord(async (lane, record) => {
  const path = `${NOTES}/${record.id}`;
  const seen = await lane.client.ask({ method: "GET", path });
  if (rightBody(lane.tally, "get", seen, 200, same(record)) === undefined) return;
  const headers = { "if-none-match": seen.headers.etag ?? "" };
  const { status, text } = await lane.client.ask({ method: "GET", path, headers });
  isExpected(lane.tally, "get, not modified", status, [304], text);
});

async function list(lane: Lane): Promise<void> {
  const path = `${NOTES}?authorId=${lane.token}&size_gte=${lane.random(100)}&_sort=-size&_page=1&_limit=10`;
  const answer = await lane.client.ask({ method: "GET", path });
  rightBody<Written[]>(
    lane.tally,
    "list",
    answer,
    200,
    (body) => body.length <= 10 && Number(answer.headers["x-total-count"]) >= body.length,
  );
}

async function search(lane: Lane): Promise<void> {
  const answer = await lane.client.ask({
    method: "GET",
    path: `${NOTES}?q=note%20${lane.number}-&_limit=5&_total=none`,
  });
  rightBody<Written[]>(lane.tally, "search", answer, 200, (body) => body.length <= 5);
}

async function include(lane: Lane): Promise<void> {
  const path = `${NOTES}?authorId=${lane.token}&include=author&_limit=10&_total=none`;
  const answer = await lane.client.ask({ method: "GET", path });
  rightBody<{ author: { id: string } | null }[]>(lane.tally, "include", answer, 200, (body) =>
    body.every(({ author }) => author?.id === lane.token),
  );
}

async function count(lane: Lane): Promise<void> {
  const answer = await lane.client.ask({ method: "GET", path: `${NOTES}/count?authorId=${lane.token}&done=true` });
  rightBody<{ count: number }>(lane.tally, "count", answer, 200, (body) => body.count >= 0);
}

async function exportCsv(lane: Lane): Promise<void> {
  const path = `${NOTES}/export?format=csv&authorId=${lane.token}`;
  const { status, text } = await lane.client.ask({ method: "GET", path });
  if (isExpected(lane.tally, "export", status, [200], text) && !text.startsWith("id,"))
    complain(lane.tally, `export: ${text.slice(0, 100)}`);
}

const update = onRecord(async (lane, record) => {
  const title = `note ${lane.number}-${lane.next()}`;
  const sent: SoakRequest = {
    method: lane.random(2) === 0 ? "PATCH" : "PUT",
    path: `${NOTES}/${record.id}`,
    token: lane.token,
    headers: { "if-match": etag(record) },
    body: { title, size: record.size + 1 },
  };
  const answer = await lane.client.ask(sent);
  const body = rightBody<Written>(lane.tally, "update, If-Match", answer, 200, (made) => made.title === title);
  if (body === undefined) return;
  Object.assign(record, { title, size: record.size + 1, version: body.version });
  lane.journal.changed();
});

const staleUpdate = onRecord(async (lane, record) => {
  const headers = { "if-match": `"${record.version + 1_000}"` };
  const body = { title: "never" };
  const path = `${NOTES}/${record.id}`;
  const { status, text } = await lane.client.ask({ method: "PATCH", path, token: lane.token, headers, body });
  isExpected(lane.tally, "update, stale If-Match", status, [412], text);
});

const toggle = onRecord(async (lane, record) => {
  const path = `${NOTES}/${record.id}/toggle-done`;
  const answer = await lane.client.ask({ method: "POST", path, token: lane.token });
  const body = rightBody<{ done: boolean }>(lane.tally, "action", answer, 200, ({ done }) => done === !record.done);
  if (body === undefined) return;
  Object.assign(record, { done: body.done, version: record.version + 1 });
  lane.journal.changed();
});

async function bulk(lane: Lane): Promise<void> {
  const start = lane.random(Math.max(1, lane.records.length - 5));
  const records = lane.records.slice(start, start + 5);
  if (records.length === 0) return create(lane);
  const size = lane.next();
  const body = { ids: records.map(({ id }) => id), data: { size } };
  const answer = await lane.client.ask({ method: "PUT", path: `${NOTES}/bulk`, token: lane.token, body });
  const done = rightBody<{ count: number }>(lane.tally, "bulk", answer, 200, (said) => said.count === records.length);
  if (done === undefined) return;
  for (const record of records) Object.assign(record, { size, version: record.version + 1 });
  lane.journal.changed();
}

const remove = onRecord(async (lane, record) => {
  const answer = await lane.client.ask({ method: "DELETE", path: `${NOTES}/${record.id}`, token: lane.token });
  if (rightBody<{ success: boolean }>(lane.tally, "delete", answer, 200, (body) => body.success) === undefined) return;
  lane.records.splice(lane.records.indexOf(record), 1);
  lane.journal.deleted(record.id);
  const gone = await lane.client.ask({ method: "GET", path: `${NOTES}/${record.id}` });
  isExpected(lane.tally, "get, deleted", gone.status, [404], gone.text);
});

/** What everybody changes at once: of those who have seen the same version, one may win. */
async function change(lane: Lane): Promise<void> {
  const id = any(lane, COUNTERS);
  const path = `/api/counters/${id}`;
  const seen = await lane.client.ask({ method: "GET", path });
  const before = rightBody<{ changes: number }>(lane.tally, "get", seen, 200, ({ changes }) => changes >= 0);
  if (before === undefined) return;
  const headers = { "if-match": seen.headers.etag ?? "" };
  const body = { changes: before.changes + 1 };
  const { status, text } = await lane.client.ask({ method: "PATCH", path, token: lane.token, headers, body });
  if (isExpected(lane.tally, "contended update, If-Match", status, [200, 412], text) && status === 200)
    lane.journal.counted(id);
}

/** Sends something wrong on purpose. */
const BAD: readonly (readonly [SoakRequest, number])[] = [
  [{ method: "POST", path: NOTES, token: "caller-0", body: '{"title":' }, 400],
  [{ method: "POST", path: NOTES, token: "caller-0", body: { title: 5, body: null } }, 400],
  [{ method: "POST", path: NOTES, token: "caller-0", body: { title: "a", body: "b", unknown: 1 } }, 400],
  [{ method: "POST", path: NOTES, token: "caller-0", body: '{"__proto__":{"title":"a"}}' }, 400],
  [{ method: "POST", path: NOTES, token: "caller-0", body: '{"title":"a\\u0000","body":"b"}' }, 400],
  [{ method: "POST", path: NOTES, body: { title: "a", body: "b" } }, 401],
  [{ method: "POST", path: NOTES, token: "nobody", body: { title: "a", body: "b" } }, 401],
  [{ method: "POST", path: NOTES, token: "caller-0", headers: { "content-type": "text/plain" }, body: "{}" }, 415],
  [{ method: "GET", path: `${NOTES}?titel=a` }, 400],
  [{ method: "GET", path: `${NOTES}?size_gte=ten` }, 400],
  [{ method: "GET", path: `${NOTES}?_limit=100000` }, 400],
  [{ method: "GET", path: `${NOTES}?include=nothing` }, 400],
  [{ method: "GET", path: `${NOTES}/there-is-none` }, 404],
  [{ method: "GET", path: "/api/nothing" }, 404],
  [{ method: "PATCH", path: "/api/counters/counter-0", token: "caller-0", body: { changes: 0 } }, 428],
  [{ method: "DELETE", path: "/api/users/caller-0", token: "caller-0" }, 403],
  [{ method: "DELETE", path: NOTES, token: "caller-0" }, 405],
  [{ method: "PUT", path: `${NOTES}/bulk`, token: "caller-0", body: { ids: [], data: {} } }, 400],
];

/** In turn, so that a short soak sends all of them. */
async function bad(lane: Lane): Promise<void> {
  const turn = lane.tally.kinds.get("bad request") ?? 0;
  const [sent, expected] = BAD[turn % BAD.length] as (typeof BAD)[number];
  const { status, text } = await lane.client.ask(sent);
  isExpected(lane.tally, "bad request", status, [expected], `${sent.method} ${sent.path} ${text}`);
}

const ofOthers = onRecord(async (lane, record) => {
  const token = CALLERS.find((caller) => caller !== lane.token) as string;
  const path = `${NOTES}/${record.id}`;
  const { status, text } = await lane.client.ask({ method: "PATCH", path, token, body: { title: "taken" } });
  isExpected(lane.tally, "bad request", status, [403], text);
});

const NO_REQUESTS: readonly string[] = [
  "GET\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n",
  "POST /api/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "GET /api/notes HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n",
];

async function noRequest(lane: Lane): Promise<void> {
  isExpected(lane.tally, "no HTTP", await lane.client.sendBytes(any(lane, NO_REQUESTS)), [400]);
}

/** Somebody who goes away: from a read, or from a write of which nobody knows whether it was done. */
async function abandon(lane: Lane): Promise<void> {
  lane.tally.kinds.set("abandoned", (lane.tally.kinds.get("abandoned") ?? 0) + 1);
  const afterMs = lane.random(6);
  if (lane.random(4) > 0) return lane.client.abandon({ method: "GET", path: `${NOTES}?include=author` }, afterMs);
  const title = `left ${lane.number}`;
  lane.journal.abandoned(title);
  await lane.client.abandon({ method: "POST", path: NOTES, token: lane.token, body: { title, body: "left" } }, afterMs);
  // So that they do not become more and more.
  const found = await lane.client.ask({ method: "GET", path: `${NOTES}?title=left%20${lane.number}` });
  const records = rightBody<Written[]>(lane.tally, "list", found, 200, (body) => body.length < 100);
  for (const { id } of records ?? []) {
    const { status, text } = await lane.client.ask({ method: "DELETE", path: `${NOTES}/${id}`, token: lane.token });
    isExpected(lane.tally, "delete", status, [200], text);
  }
}

async function slowRead(lane: Lane): Promise<void> {
  const answer = await lane.client.askSlowly({ method: "GET", path: `${NOTES}?include=author&_limit=50` });
  rightBody<Written[]>(lane.tally, "slow list", answer, 200, (body) => body.length <= 50);
}

const slowCreate: Work = (lane) => create(lane, "slow create");
/** As many of the one as of the other, in the long run. */
const createOrRemove: Work = (lane) => (lane.random(2 * RECORDS) >= lane.records.length ? create(lane) : remove(lane));

/** What is asked, and of a thousand times how often. */
const MIX: readonly (readonly [Work, number])[] = [
  [get, 220],
  [notModified, 50],
  [list, 110],
  [search, 20],
  [include, 70],
  [count, 60],
  [exportCsv, 4],
  [createOrRemove, 150],
  [update, 110],
  [staleUpdate, 15],
  [toggle, 50],
  [bulk, 10],
  [change, 30],
  [bad, 60],
  [ofOthers, 10],
  [noRequest, 5],
  [abandon, 12],
  [slowRead, 2],
  [slowCreate, 2],
];

const TOTAL = MIX.reduce((sum, [, weight]) => sum + weight, 0);

/** Asks for one thing of the mix. */
export function askAnything(lane: Lane): Promise<void> {
  let at = lane.random(TOTAL);
  for (const [work, weight] of MIX) {
    at -= weight;
    if (at < 0) return work(lane);
  }
  return get(lane);
}
