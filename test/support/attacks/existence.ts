import { doorsOf, PRIVATE } from "./private-objects.ts";
import type { Answer, Attack, Probe } from "./probe.ts";

/** Responses that reveal whether a record is hidden or missing. */
export const existence: Attack = {
  name: "what is hidden told from what is not there",
  async run(probe) {
    await anonymously(probe);
    await hiddenRecords(probe);
    await references(probe);
    await takenValues(probe);
    await totals(probe);
  },
};

/** A response without the parts that differ between requests and between ids. */
function shapeOf({ status, headers, text }: Answer, ...ids: readonly string[]): string {
  const kept = [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
  let shape = JSON.stringify([status, kept, text.replace(/"requestId":"[^"]*"/, "")]);
  for (const id of ids) shape = shape.replaceAll(id, "…");
  return shape;
}

const MISSING = "letter-zoe";

async function anonymously(probe: Probe): Promise<void> {
  for (const [entity, path] of Object.entries(PRIVATE)) {
    const answers = new Set<string>();
    for (const id of [`${entity}-ann`, `${entity}-ann-gone`, MISSING, "x".repeat(500)])
      for (const { method, path: door, ...init } of doorsOf(path, id).filter(({ method: verb }) => verb !== "HEAD"))
        answers.add(shapeOf(await probe.send("anonymous", method, door, init)));
    if (answers.size !== 1) probe.found(`nobody is answered in ${answers.size} ways at ${path}: ${[...answers][1]}`);
  }
}

async function hiddenRecords(probe: Probe): Promise<void> {
  const missing = doorsOf(PRIVATE.drawer, "drawer-zoe");
  for (const id of ["drawer-ann", "drawer-ann-gone"])
    for (const [index, { method, path, ...init }] of doorsOf(PRIVATE.drawer, id).entries()) {
      const there = shapeOf(await probe.send("bob", method, path, init), id);
      const { method: verb, path: nowhere, ...same } = missing[index] ?? { method, path };
      const notThere = shapeOf(await probe.send("bob", verb, nowhere, same), "drawer-zoe");
      if (there !== notThere) probe.found(`bob ${method} ${path}: ${there} is not ${notThere}`);
    }
  const exists = await Promise.all(
    ["drawer-ann", "drawer-zoe"].map((id) => probe.send("bob", "GET", `/api/drawers/${id}/exists`)),
  );
  const [there, notThere] = exists.map((answer) => shapeOf(answer, "drawer-ann", "drawer-zoe"));
  if (there !== notThere) probe.found(`exists tells ${there} from ${notThere}`);
}

async function references(probe: Probe): Promise<void> {
  for (const caller of ["bob", "root"] as const) {
    const ids = ["letter-ann", "letter-ann-gone", MISSING];
    for (const [method, path, bodyOf] of [
      ["POST", "/api/attachments", (letterId: string) => ({ name: "x", letterId })],
      ["PATCH", `/api/attachments/attachment-${caller}`, (letterId: string) => ({ letterId })],
      ["POST", "/api/attachments/import", (letterId: string) => [{ name: "x", letterId }]],
      [
        "POST",
        "/api/attachments/bulk-update",
        (letterId: string) => ({ ids: [`attachment-${caller}`], data: { letterId } }),
      ],
    ] as const) {
      const shapes = new Set<string>();
      for (const id of ids) shapes.add(shapeOf(await probe.send(caller, method, path, { body: bodyOf(id) }), ...ids));
      if (shapes.size !== 1)
        probe.found(`${caller} ${method} ${path} tells references apart: ${[...shapes].join(" ")}`);
    }
  }
}

/** A caller that may not write a field must not learn whether a value is taken. */
async function takenValues(probe: Probe): Promise<void> {
  const taken = probe.canaries.all.find(({ entity, field }) => entity === "person" && field === "ssn")?.text ?? "";
  probe.control(taken !== "", "nobody has an ssn");
  const other = "no ssn of anybody's";
  for (const [caller, method, path, bodyOf] of [
    ["anonymous", "PATCH", "/api/people/bob", (ssn: string) => ({ ssn })],
    ["root", "PATCH", "/api/contacts/c-ann", (ssn: string) => ({ ssn })],
    ["ann", "PATCH", "/api/people/bob", (ssn: string) => ({ ssn })],
    ["ann", "PUT", "/api/people/bob", (ssn: string) => ({ ssn, name: "x" })],
    ["bob", "POST", "/api/vaults", (label: string) => ({ label })],
  ] as const) {
    const [one, two] = await Promise.all(
      [taken, other].map(async (value) =>
        shapeOf(await probe.send(caller, method, path, { body: bodyOf(value) }), taken, other),
      ),
    );
    if (one !== two) probe.found(`${caller} ${method} ${path} tells what is taken: ${one} is not ${two}`);
  }
  const again = { email: "ann@host.example", password: "long enough" };
  const { status, text } = await probe.send("anonymous", "POST", "/api/accounts", { body: again });
  probe.control(status === 409, `a taken address is answered ${status}`);
  if (text.includes("ann@host.example") || text.includes("account-ann")) probe.found(`a conflict says more: ${text}`);
}

/** Totals count only the records that the caller may see. */
async function totals(probe: Probe): Promise<void> {
  for (const caller of ["ann", "bob", "root"] as const)
    for (const path of Object.values(PRIVATE)) {
      const entity = path === PRIVATE.letter ? "letter" : "drawer";
      const own = (await probe.stored(entity)).filter(
        (row) => row.authorId === caller && row.deletedAt === null,
      ).length;
      for (const query of ["", "?_limit=1", "?_limit=1&_page=2", "?q=cnry", "?_start=0&_end=1"]) {
        const { headers } = await probe.send(caller, "GET", path + query);
        const total = Number(headers.get("x-total-count"));
        if (total > own) probe.found(`${caller} GET ${path}${query} counts ${total} of ${own}`);
      }
      const { json } = await probe.send(caller, "GET", `${path}/count`);
      if (json.count > own) probe.found(`${caller} GET ${path}/count counts ${json.count} of ${own}`);
    }
}
