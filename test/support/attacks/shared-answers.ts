import { CALLERS } from "../protected/truth.ts";
import { ATTACKERS } from "./private-objects.ts";
import type { Answer, Attack, Probe } from "./probe.ts";

/** Requests that every caller may send, and whose response depends on the caller. */
const PATHS = [
  "/who",
  "/api/letters",
  "/api/letters/count",
  "/api/letters/export",
  "/api/people",
  "/api/people/bob",
  "/api/people?include=notes",
  "/api/notes?_sort=id",
  "/api/parcels?include=recipient",
  "/api/accounts/account-ann",
  "/raw/find",
  "/openapi.json",
];

/** A response meant for another caller: from a cache, through an ETag, an idempotency key, or parallel requests. */
export const sharedAnswers: Attack = {
  name: "answers of one caller given to another",
  async run(probe) {
    // The caller that sees most comes first, so that there is something to leak.
    for (const path of PATHS)
      for (const caller of [...ATTACKERS].reverse()) check(probe, caller, path, await probe.send(caller, "GET", path));
    for (let round = 0; round < 4; round++) {
      const asked = PATHS.flatMap((path) => ATTACKERS.map((caller) => [caller, path] as const));
      const answers = await Promise.all(asked.map(([caller, path]) => probe.send(caller, "GET", path)));
      for (const [index, [caller, path]] of asked.entries()) check(probe, caller, path, answers[index] as Answer);
    }
    await tags(probe);
    await keys(probe);
  },
};

type Caller = (typeof ATTACKERS)[number];

function check(probe: Probe, caller: Caller, path: string, { status, headers, text, json }: Answer): void {
  for (const leak of probe.canaries.leaksIn(text, caller)) probe.found(`${caller} GET ${path} shows ${leak}`);
  if (path === "/who" && (json.user?.id ?? null) !== (CALLERS[caller]?.id ?? null))
    probe.found(`${caller} is answered as ${json.user?.id}`);
  if (path.startsWith("/api/letters") && caller === "anonymous" && status !== 401)
    probe.found(`${caller} GET ${path} was answered ${status}`);
  const own = (json as { authorId?: string }[] | undefined) ?? [];
  if (path === "/api/letters" && Array.isArray(own) && own.some(({ authorId }) => authorId !== caller))
    probe.found(`${caller} was shown the letters of somebody else`);
  const control = headers.get("cache-control") ?? "";
  if (!/no-store|private|no-cache/.test(control) || /public/.test(control))
    probe.found(`GET ${path} may be kept by a cache: ${control}`);
  if (!/authorization/i.test(headers.get("vary") ?? "")) probe.found(`GET ${path} does not vary with who asks`);
}

/** An ETag stands for the same bytes, so it matches only for callers that see the same bytes. */
async function tags(probe: Probe): Promise<void> {
  for (const path of ["/openapi.json", "/api/accounts/account-ann"]) {
    const texts = new Map<string, string>();
    for (const caller of ["root", "bob", "anonymous"] as const) {
      const { headers, text } = await probe.send(caller, "GET", path);
      const tag = headers.get("etag");
      if (tag === null) continue;
      if ((texts.get(tag) ?? text) !== text) probe.found(`GET ${path} has one tag for two answers`);
      texts.set(tag, text);
    }
  }
}

async function keys(probe: Probe): Promise<void> {
  const init = { body: { subject: "one", body: "one", seal: "one" }, headers: { "idempotency-key": "shared-key-1" } };
  const ann = await probe.send("ann", "POST", "/api/letters", init);
  probe.control(ann.status === 201, `a letter with a key was answered ${ann.status}`);
  for (const caller of ["bob", "root", "anonymous"] as const) {
    const { status, json } = await probe.send(caller, "POST", "/api/letters", init);
    if (json?.id === ann.json.id || (json?.authorId ?? caller) !== caller)
      probe.found(`${caller} was given ann's answer (${status})`);
  }
}
