import {
  ATTACKERS,
  doorsOf,
  foreignRows,
  NEW_OBJECT,
  othersThan,
  PRIVATE,
  PRIVATE_ENTITIES,
  type PrivateEntity,
  searchesFor,
} from "./private-objects.ts";
import type { Attack, Probe } from "./probe.ts";
import { usuallyOne } from "./turn-of.ts";

/**
 * Access to another user's record through every route: caller × entity × owner × live or deleted × route. In the usual
 * suite, an owner's live records are tried with one entity, and the deleted ones with the other.
 */
export const foreignObjects: Attack = {
  name: "objects of somebody else",
  async run(probe) {
    const own = await probe.send("ann", "GET", "/api/letters/letter-ann");
    probe.control(own.status === 200, "ann cannot read her own letter");
    for (const [step, caller] of ATTACKERS.entries())
      for (const [turn, entity] of PRIVATE_ENTITIES.entries())
        for (const [index, owner] of othersThan(caller).entries())
          for (const id of usuallyOne(turn + index, [`${entity}-${owner}`, `${entity}-${owner}-gone`])) {
            await throughItsDoors(probe, caller, entity, id);
            await throughLists(probe, caller, entity, id, step + turn + index);
          }
    await throughRelations(probe);
    await throughRuns(probe);
  },
};

type Caller = (typeof ATTACKERS)[number];

async function throughItsDoors(probe: Probe, caller: Caller, entity: PrivateEntity, id: string): Promise<void> {
  const before = await foreignRows(probe, entity, caller);
  for (const { method, path, ...init } of doorsOf(PRIVATE[entity], id)) {
    const { status, text } = await probe.send(caller, method, path, init);
    const at = `${caller} ${method} ${path}`;
    if (status < 400) probe.found(`${at} was answered ${status}`);
    report(probe, at, caller, text);
  }
  const { json } = await probe.send(caller, "GET", `${PRIVATE[entity]}/${id}/exists`);
  if (json?.exists !== undefined && json.exists !== false) probe.found(`${caller} was told that ${id} exists`);
  const inBodies = [
    { ...NEW_OBJECT, id },
    [{ ...NEW_OBJECT, id }],
    { ids: [id], data: { subject: "taken over" } },
    { ids: [id] },
  ];
  for (const [index, path] of ["", "/import", "/bulk-update", "/bulk-delete"].entries())
    await probe.send(caller, "POST", PRIVATE[entity] + path, { body: inBodies[index] });
  const after = await foreignRows(probe, entity, caller);
  if (after !== before) probe.found(`${caller} changed ${id}, or made something in its owner's name`);
}

async function throughLists(
  probe: Probe,
  caller: Caller,
  entity: PrivateEntity,
  id: string,
  turn: number,
): Promise<void> {
  for (const path of searchesFor(PRIVATE[entity], id, turn)) {
    const { text, json } = await probe.send(caller, "GET", path);
    report(probe, `${caller} GET ${path}`, caller, text);
    const isThere = Array.isArray(json) && json.some((record) => record?.id === id);
    if (isThere) probe.found(`${caller} GET ${path} shows ${id}`);
    if (/\/count\?id(_in|_gte)?=/.test(path) && json?.count > 0) probe.found(`${caller} GET ${path} counts ${id}`);
  }
}

async function throughRelations(probe: Probe): Promise<void> {
  for (const caller of ATTACKERS) {
    const paths = ["?include=letter", "/attachment-ann?include=letter", "/attachment-bob?include=letter.author"];
    for (const path of paths) {
      const { text } = await probe.send(caller, "GET", `/api/attachments${path}`);
      report(probe, `${caller} GET /api/attachments${path}`, caller, text);
    }
    for (const owner of othersThan(caller)) {
      const conditions = [`letter.id=letter-${owner}`, `letterId=letter-${owner}&letter.archived=false`];
      for (const condition of conditions) {
        const { json } = await probe.send(caller, "GET", `/api/attachments?${condition}`);
        if (json?.length > 0) probe.found(`${caller} found the letter of ${owner} by ${condition}`);
      }
      const body = { name: "mine", letterId: `letter-${owner}` };
      for (const [method, path] of [
        ["POST", "/api/attachments?include=letter"],
        ["PATCH", `/api/attachments/attachment-${caller}?include=letter`],
      ] as const) {
        const { status } = await probe.send(caller, method, path, { body });
        if (status < 400) probe.found(`${caller} ${method} pointed to the letter of ${owner}`);
      }
    }
  }
}

/** Workflow runs are objects too. */
async function throughRuns(probe: Probe): Promise<void> {
  const made = await probe.send("ann", "POST", "/api/letters", { body: NEW_OBJECT });
  const body = { pin: "a long pin", text: "of ann's" };
  await probe.send("ann", "POST", `/api/letters/${made.json.id}/renew`, { body });
  const runs = await probe.stored("workflowRun");
  probe.control(runs.length > 0, "a workflow of ann's has left a run");
  for (const { id } of runs)
    for (const caller of ["anonymous", "bob"] as const) {
      const { status, text } = await probe.send(caller, "GET", `/api/workflow-runs/${id}`);
      const missing = await probe.send(caller, "GET", "/api/workflow-runs/missing");
      if (status !== missing.status || text.includes("of ann's")) probe.found(`${caller} was shown a run (${status})`);
    }
}

function report(probe: Probe, at: string, caller: Caller, text: string): void {
  for (const leak of probe.canaries.leaksIn(text, caller)) probe.found(`${at} shows ${leak}`);
}
