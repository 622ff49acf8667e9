import {
  ATTACKERS,
  foreignRows,
  NEW_OBJECT,
  othersThan,
  PRIVATE,
  PRIVATE_ENTITIES,
  type PrivateEntity,
} from "./private-objects.ts";
import type { Attack, Probe } from "./probe.ts";

const DOORS = [
  ["PUT", "/bulk"],
  ["POST", "/bulk-update"],
  ["DELETE", "/bulk"],
  ["POST", "/bulk-delete"],
] as const;

/** Ids of another user among the caller's own, and values that are not a list of ids. */
export const foreignIdsInBulk: Attack = {
  name: "ids of somebody else in bulk",
  async run(probe) {
    for (const caller of ATTACKERS)
      for (const entity of PRIVATE_ENTITIES) {
        await mixed(probe, caller, entity);
        await malformed(probe, caller, entity);
      }
    await people(probe);
  },
};

type Caller = (typeof ATTACKERS)[number];

async function mixed(probe: Probe, caller: Caller, entity: PrivateEntity): Promise<void> {
  const foreign = othersThan(caller).flatMap((owner) => [`${entity}-${owner}`, `${entity}-${owner}-gone`]);
  for (const [method, path] of DOORS) {
    const made = await probe.send(caller, "POST", PRIVATE[entity], { body: NEW_OBJECT });
    probe.control((made.status === 201) === (caller !== "anonymous"), `${caller} creates a ${entity}: ${made.status}`);
    const own: string[] = made.status === 201 ? [made.json.id] : [];
    const before = await foreignRows(probe, entity, caller);
    for (const ids of [
      foreign,
      [...foreign, "missing"],
      [...own, ...foreign],
      [...foreign, ...own, ...own, ...foreign],
    ]) {
      const body = { ids, data: { subject: "taken over", authorId: caller } };
      const { status, json } = await probe.send(caller, method, PRIVATE[entity] + path, { body });
      const at = `${caller} ${method} ${PRIVATE[entity]}${path} of ${ids.join()}`;
      if (status < 400 && json.count > own.length) probe.found(`${at} counted ${json.count}`);
    }
    if ((await foreignRows(probe, entity, caller)) !== before)
      probe.found(`${caller} ${method} ${PRIVATE[entity]}${path} changed what is somebody else's`);
  }
}

const NO_IDS: readonly unknown[] = [
  undefined,
  null,
  [],
  {},
  "all",
  [null],
  [1],
  [true],
  [[]],
  [{ not: "x" }],
  { not: "x" },
  ["%"],
  ["*"],
  [""],
  ["x".repeat(200)],
  Array.from({ length: 21 }, (_, i) => `x${i}`),
];

async function malformed(probe: Probe, caller: Caller, entity: PrivateEntity): Promise<void> {
  const before = JSON.stringify(await probe.stored(entity));
  for (const [method, path] of DOORS)
    for (const ids of NO_IDS) {
      const body = { ids, data: { subject: "taken over" } };
      const { status, json } = await probe.send(caller, method, PRIVATE[entity] + path, { body });
      const at = `${caller} ${method} ${PRIVATE[entity]}${path} of ${JSON.stringify(ids)?.slice(0, 40)}`;
      if (status >= 500 || (status < 400 && json.count !== 0)) probe.found(`${at} was answered ${status}`);
    }
  if (JSON.stringify(await probe.stored(entity)) !== before) probe.found(`${caller} changed ${entity} without any ids`);
}

/** Callers may read every record of this entity, and change only their own. */
async function people(probe: Probe): Promise<void> {
  const ids = ["ann", "bob", "root"];
  const namesOf = async (some: readonly string[]): Promise<string> =>
    JSON.stringify((await probe.stored("person")).flatMap(({ id, name }) => (some.includes(String(id)) ? [name] : [])));
  for (const caller of ["anonymous", "ann", "bob"] as const) {
    const others = ids.filter((id) => id !== caller);
    const before = await namesOf(others);
    const body = { ids, data: { name: `taken over by ${caller}` } };
    const { status, json } = await probe.send(caller, "PUT", "/api/people/bulk", { body });
    if (status < 400 && json.count !== 1) probe.found(`${caller} changed ${json.count} people`);
    if ((await namesOf(others)) !== before) probe.found(`${caller} renamed ${others.join()}`);
  }
}
