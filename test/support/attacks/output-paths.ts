import { ATTACKERS } from "./private-objects.ts";
import type { Attack, Probe } from "./probe.ts";
import { usuallyOne } from "./turn-of.ts";

const FORMATS = ["json", "csv", "ndjson"];
const INCLUDES: Readonly<Record<string, readonly string[]>> = {
  people: ["boss", "reports.notes", "notes.viewers", "vaults", "badge.holder", "friends.friends"],
  notes: ["author.boss", "viewers.notes.author", "author.badge"],
  badges: ["holder.vaults", "holder.notes"],
  attachments: ["letter.author", "author.badge"],
  parcels: ["recipient"],
  accounts: [],
  letters: ["author.vaults", "attachments.letter"],
  drawers: ["author.notes"],
  vaults: ["holder.vaults"],
};
const RAW = ["find", "one", "stream", "transaction", "written", "operation", "nested", "selected", "text"];

/** Protected values in any response: records, results of actions, errors, exports, documents. */
export const outputPaths: Attack = {
  name: "protected values in answers",
  async run(probe) {
    for (const caller of ATTACKERS) {
      await readings(probe, caller);
      if (caller === "ann" || caller === "root") await errors(probe, caller);
      if (caller !== "anonymous") await results(probe, caller);
    }
  },
};

type Caller = (typeof ATTACKERS)[number];

async function look(probe: Probe, caller: Caller, method: string, path: string, body?: unknown): Promise<number> {
  const { status, text, headers } = await probe.send(caller, method, path, { body });
  // Errors may contain only what every caller may see.
  const reader = status < 400 ? caller : null;
  const shown = `${text}\n${[...headers].join("\n")}`;
  for (const leak of probe.canaries.leaksIn(shown, reader))
    probe.found(`${caller} ${method} ${path} (${status}) shows ${leak}`);
  if ((method === "HEAD" || status === 304) && text !== "") probe.found(`${caller} ${method} ${path} has a body`);
  if (/node_modules|\/src\/|\bSELECT\b|prisma/i.test(status < 400 ? "" : text))
    probe.found(`${caller} ${method} ${path} shows what the app is made of: ${text.slice(0, 200)}`);
  return status;
}

async function readings(probe: Probe, caller: Caller): Promise<void> {
  let turn = ATTACKERS.indexOf(caller);
  for (const [plural, includes] of Object.entries(INCLUDES)) {
    const path = `/api/${plural}`;
    for (const query of ["", "?_sort=-id&_limit=2", "?q=cnry", ...includes.map((include) => `?include=${include}`)])
      await look(probe, caller, "GET", path + query);
    await look(probe, caller, "HEAD", path);
    for (const format of usuallyOne(turn, FORMATS)) await look(probe, caller, "GET", `${path}/export?format=${format}`);
    const prefix = plural === "people" ? "" : `${plural.slice(0, -1)}-`;
    for (const query of ["", ...includes.map((include) => `?include=${include}`)])
      for (const owner of usuallyOne(turn++, ["ann", "bob", "root"]))
        await look(probe, caller, "GET", `${path}/${prefix}${owner}${query}`);
  }
  for (const name of RAW) await look(probe, caller, "GET", `/raw/${name}`);
  for (const path of ["/openapi.json", "/docs", "/who", "/health/ready", "/health/live", "/broken", "/unruled"])
    await look(probe, caller, "GET", path);
}

/** Sends another user's values in invalid forms; no error repeats them. */
async function errors(probe: Probe, caller: Caller): Promise<void> {
  const seen = probe.canaries.all.filter(({ facts }) => facts.owner === "bob" || facts.owner === undefined);
  for (const [index, { entity, field, text }] of seen.entries()) {
    const plural = entity === "person" ? "people" : `${entity}s`;
    const turn = index + ATTACKERS.indexOf(caller);
    for (const value of usuallyOne(turn, [{ set: text }, [text], `${text}\u0000`])) {
      const own = entity === "person" ? caller : `${entity}-${caller}`;
      await look(probe, caller, "POST", `/api/${plural}`, { [field]: value });
      await look(probe, caller, "PATCH", `/api/${plural}/${own}`, { [field]: value });
    }
    if (field === "ssn") await look(probe, caller, "PATCH", `/api/people/${caller}`, { ssn: text });
  }
}

async function results(probe: Probe, caller: "ann" | "bob" | "root"): Promise<void> {
  const made = await probe.send(caller, "POST", "/api/letters", { body: { subject: "s", body: "b", seal: "s" } });
  probe.control(made.status === 201, `${caller} cannot write a letter`);
  const path = `/api/letters/${made.json.id}`;
  const pin = probe.canaries.all.find(({ field }) => field === "pin")?.text;
  for (const text of ["done", "fail"]) await look(probe, caller, "POST", `${path}/renew`, { pin, text });
  for (const verb of ["archive", "unarchive", "toggle-pinned", "clone"])
    await look(probe, caller, "POST", `${path}/${verb}`);
  await look(probe, caller, "POST", `${path}/rewrite`, { text: "again" });
  await look(probe, caller, "GET", `${path}/report`);
  await look(probe, caller, "DELETE", `${path}/soft`);
  await look(probe, caller, "POST", `${path}/restore`);
  const own = await probe.send(caller, "GET", `/api/accounts/account-${caller}`);
  const tag = own.headers.get("etag") ?? "";
  const again = await probe.send(caller, "GET", `/api/accounts/account-${caller}`, {
    headers: { "if-none-match": tag },
  });
  if (again.text !== "" && again.status === 304) probe.found("a 304 has a body");
}
