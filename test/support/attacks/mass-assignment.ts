import type { Row } from "../../../src/index.ts";
import type { Attack, Probe, SentInit } from "./probe.ts";

const LONG_AGO = "2001-01-01T00:00:00.000Z";

/** Fields that only the app or an administrator may set, one per body. */
const FORBIDDEN: readonly Readonly<Record<string, unknown>>[] = [
  { role: "admin" },
  { credit: 1_000_000 },
  { credit: "1000000" },
  { credit: { increment: 1_000_000 } },
  { credit: { set: 1_000_000 } },
  { verified: true },
  { token: "stolen" },
  { id: "chosen" },
  { createdAt: LONG_AGO },
  { updatedAt: LONG_AGO },
  { version: 99 },
  { Role: "admin" },
  { "role ": "admin" },
  { ROLE: "admin" },
  { isAdmin: true },
  { _count: 1 },
  { password2: "stolen" },
  { $set: { role: "admin" } },
  { data: { role: "admin" } },
  { account: { role: "admin" } },
  { create: { role: "admin" } },
];

/** Bodies that differ only in their JSON text. */
const TEXTS = [
  '"role":"user","role":"admin"',
  '"r\\u006fle":"admin"',
  '"__proto__":{"role":"admin"}',
  '"constructor":{"prototype":{"role":"admin"}}',
];

/** Fields that the caller may not set, through every route that writes. */
export const massAssignment: Attack = {
  name: "fields that are not the caller's to set",
  async run(probe) {
    const known = new Set<unknown>();
    for (const caller of ["anonymous", "ann", "bob"] as const) {
      const own = caller === "anonymous" ? undefined : await newAccount(probe, caller);
      for (const forbidden of FORBIDDEN)
        for (const [method, path, init] of doorsFor(own, forbidden))
          await attempt(probe, caller, known, method, path, init);
      for (const text of TEXTS) {
        const signUp = `{${basics()},${text}}`;
        await attempt(probe, caller, known, "POST", "/api/accounts", { raw: signUp });
        await attempt(probe, caller, known, "POST", "/api/accounts/import", { raw: `[${signUp}]` });
        if (own !== undefined)
          await attempt(probe, caller, known, "PATCH", `/api/accounts/${own}`, { raw: `{${text}}` });
      }
      await attempt(probe, caller, known, "POST", "/api/accounts/import", {
        raw: `email,password,role,credit,verified,token\n${fresh()},long enough,admin,5,true,stolen\n`,
        headers: { "content-type": "text/csv" },
      });
      await othersNames(probe, caller);
    }
  },
};

type Caller = "anonymous" | "ann" | "bob";

let count = 0;
const fresh = (): string => `new-${++count}@host.example`;
const basics = (): string => JSON.stringify({ email: fresh(), password: "long enough" }).slice(1, -1);

async function newAccount(probe: Probe, caller: "ann" | "bob"): Promise<string> {
  const { status, json } = await probe.send(caller, "POST", "/api/accounts", {
    body: { email: fresh(), password: "long enough" },
  });
  probe.control(status === 201, `${caller} cannot sign up: ${status}`);
  return json.id;
}

type Sent = readonly [method: string, path: string, init: SentInit];

function doorsFor(own: string | undefined, forbidden: Readonly<Record<string, unknown>>): Sent[] {
  const signUp = { email: fresh(), password: "long enough", ...forbidden };
  const again = { ...signUp, email: fresh() };
  const creates: Sent[] = [
    ["POST", "/api/accounts", { body: signUp }],
    ["POST", "/api/accounts/import", { body: [again] }],
    [
      "POST",
      "/api/accounts/import",
      { raw: JSON.stringify(again), headers: { "content-type": "application/x-ndjson" } },
    ],
  ];
  if (own === undefined) return creates;
  const bulk = { ids: [own], data: { name: "bulk", ...forbidden } };
  return [
    ...creates,
    ["PUT", `/api/accounts/${own}`, { body: forbidden }],
    ["PATCH", `/api/accounts/${own}`, { body: { name: "patched", ...forbidden } }],
    ["PUT", "/api/accounts/bulk", { body: bulk }],
    ["POST", "/api/accounts/bulk-update", { body: bulk }],
    ["POST", `/api/accounts/${own}/clone`, { body: forbidden }],
  ];
}

/** @param known ids of rows that were found wrong before */
async function attempt(probe: Probe, caller: Caller, known: Set<unknown>, ...sent: Sent): Promise<void> {
  const [method, path, init] = sent;
  const { status } = await probe.send(caller, method, path, init);
  const at = `${caller} ${method} ${path} ${(init.raw ?? JSON.stringify(init.body)).slice(0, 120)}`;
  if (status >= 500) probe.found(`${at} was answered ${status}`);
  for (const row of await probe.stored("account")) {
    if (!isWrong(row) || known.has(row.id)) continue;
    known.add(row.id);
    probe.found(`${at} stored ${JSON.stringify(row)}`);
  }
}

/** An account with values that only an administrator could set. The test's clock is not in 2001. */
function isWrong(row: Row): boolean {
  const isDated = [row.createdAt, row.updatedAt].some((at) => new Date(at as string).getFullYear() < 2_020);
  const isMarked = row.role !== "user" || Number(row.credit) !== 0 || Number(row.verified) !== 0;
  return isMarked || isDated || row.token === "stolen" || row.id === "chosen" || Number(row.version) === 99;
}

/** Ownership is a field too. */
async function othersNames(probe: Probe, caller: Caller): Promise<void> {
  const subject = `forged by ${caller}`;
  const base = { subject, body: "forged", seal: "forged" };
  const own = (await probe.send(caller, "POST", "/api/letters", { body: base })).json?.id;
  const owner = caller === "ann" ? "bob" : "ann";
  const bodies = [
    { ...base, authorId: owner },
    { ...base, author: { id: owner } },
    { ...base, author: { connect: { id: owner } } },
    { ...base, authorId: { not: caller } },
    { ...base, author: { id: owner }, authorId: caller },
    { ...base, grade: 9 },
    { ...base, deletedAt: LONG_AGO },
  ];
  for (const body of bodies)
    for (const [method, path, sent] of [
      ["POST", "/api/letters", body],
      ["POST", "/api/letters/import", [body]],
      ["PATCH", `/api/letters/${own}`, body],
      ["PUT", "/api/letters/bulk", { ids: [own], data: body }],
      ["POST", `/api/letters/${own}/clone`, body],
    ] as const)
      await probe.send(caller, method, path, { body: sent });
  for (const row of await probe.stored("letter")) {
    const isForged = row.authorId !== caller || Number(row.grade) !== 0 || row.deletedAt !== null;
    if (row.subject === subject && isForged) probe.found(`${caller} stored ${JSON.stringify(row)}`);
  }
}
