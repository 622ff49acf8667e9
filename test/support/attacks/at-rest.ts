import type { Attack } from "./probe.ts";

/** Columns that hold hashes or ciphertext. */
const CONCEALED: Readonly<Record<string, readonly string[]>> = {
  person: ["password", "recovery", "ssn", "diary", "answers", "adminSecret", "ownSecret"],
  letter: ["seal"],
  account: ["password"],
};

/** Protected values in stored data: log lines, workflow journals, stored idempotent responses, database columns. */
export const atRest: Attack = {
  name: "protected values in what is kept",
  async run(probe) {
    const { canaries, lines, send } = probe;
    const body = { subject: "s", body: "b", seal: canaries.all.find(({ field }) => field === "seal")?.text };
    const headers = { "idempotency-key": "kept" };
    const made = await send("ann", "POST", "/api/letters", { body, headers });
    probe.control(made.status === 201, `ann cannot write a letter: ${made.status}`);
    const path = `/api/letters/${made.json.id}`;
    const pin = canaries.all.find(({ field }) => field === "pin")?.text;
    for (const text of ["done", "fail"]) await send("ann", "POST", `${path}/renew`, { body: { pin, text } });
    const taken = canaries.all.find(({ field }) => field === "ssn")?.text;
    for (const patch of [{ ssn: taken }, { diary: [taken] }, { password: taken, recovery: taken }])
      await send("ann", "PATCH", "/api/people/ann", { body: patch });
    for (const where of [
      "/api/people?include=notes",
      "/api/letters",
      "/broken",
      `${path}/report`,
      "/raw/find",
      `/?q=${taken}`,
    ])
      await send("ann", "GET", where);

    for (const line of lines)
      for (const leak of canaries.leaksIn(line, null)) probe.found(`a line of the log shows ${leak}`);
    for (const table of ["workflowRun", "workflowStep", "idempotencyKey"]) {
      const rows = await probe.stored(table);
      probe.control(rows.length > 0, `nothing is kept in ${table}`);
      for (const { entity, field } of canaries.find(JSON.stringify(rows)))
        probe.found(`a row of ${table} holds ${entity}.${field}`);
    }
    for (const [entity, fields] of Object.entries(CONCEALED))
      for (const row of await probe.stored(entity))
        for (const field of fields)
          if (canaries.find(JSON.stringify(row[field] ?? "")).length > 0)
            probe.found(`${entity}.${field} is stored in clear`);
  },
};
