import { ATTACKERS } from "./private-objects.ts";
import type { Attack } from "./probe.ts";
import { usuallyOne } from "./turn-of.ts";

type Who = "everybody" | "users" | "admins" | "nobody";

// The callers that may receive data from each route, derived by hand from the entities' rules. A route that is missing
// here fails the attack. The first match counts.
const ROUTES: readonly (readonly [routes: RegExp, who: Who])[] = [
  [/^\w+ \/unruled$/, "nobody"],
  [/^\w+ \/api\/bares/, "nobody"],
  [/^(?:POST|PUT|PATCH|DELETE) \/api\/(?:contacts|audit-entries)/, "nobody"],
  [/^\w+ \/api\/audit-entries/, "admins"],
  [/^\w+ \/every-vault$/, "admins"],
  [/^\w+ \/api\/vaults/, "admins"],
  [/^DELETE \/api\/(?:people|badges|accounts)\/:id$/, "admins"],
  [/^(?:POST|PUT|PATCH|DELETE) \/api\/parcels/, "admins"],
  [/^\w+ \/api\/(?:letters|drawers|attachments)/, "users"],
  [/^(?:POST|PUT|PATCH) \/api\/badges/, "users"],
  [/^(?:POST|PUT|PATCH|DELETE) \/api\/notes/, "users"],
  [/^PUT \/api\/(?:people|accounts)$/, "everybody"], // An upsert also creates.
  [/^(?:PUT|PATCH) \/api\/people/, "users"],
  [/^POST \/api\/people\/bulk-update$/, "users"],
  [/^POST \/api\/(?:people|accounts)(?:\/import)?$/, "everybody"],
  [/^POST \/api\/accounts\/:id\/clone$/, "users"],
  [/^\w+ \/api\/accounts/, "users"],
  [/^GET \/api\/(?:people|notes|badges|parcels|contacts)/, "everybody"],
  [/^GET \/api\/workflow-runs(?:\/:id)?$/, "users"],
  [/^GET \/mine$/, "users"],
  [/^GET \/(?:openapi\.json|docs|docs\/:file|health\/live|health\/ready|who|broken|raw\/\w+)$/, "everybody"],
  [/^POST \/login$/, "everybody"],
  [/^POST \/api\/batch$/, "everybody"], // The rules apply to each item.
];

/** Protected only by the whole record: callers that may read audit entries of all records see it there. */
const OF_RECORDS = /^(?:letter|drawer)\.(?:subject|body) /;

/**
 * Every route as every caller: public routes are public on purpose, and show no hidden data. In the usual suite, half of
 * the callers try a stored record, and the other half a missing one.
 */
export const sideDoors: Attack = {
  name: "doors that forget to ask",
  async run(probe) {
    probe.control(probe.routes.length > 100, "the app tells its routes");
    for (const [turn, { method, path, entity }] of [...probe.routes].reverse().entries()) {
      const who = ROUTES.find(([routes]) => routes.test(`${method} ${path}`))?.[1] ?? "nobody";
      for (const [index, caller] of ATTACKERS.entries()) {
        const isLet = { everybody: true, users: caller !== "anonymous", admins: caller === "root", nobody: false }[who];
        for (const id of usuallyOne(turn + index, [entity === "person" ? "ann" : `${entity}-ann`, "missing"])) {
          const body = { name: "x", ids: [id], data: {} };
          const to = path.replace(":id", id).replace(":file", "x");
          const init = method === "GET" ? {} : { body };
          // The next requests need a separate account for each caller.
          if (isLet && method !== "GET") continue;
          const { status, text } = await probe.send(caller, method, to, init);
          if (status < 400 && !isLet) probe.found(`${caller} ${method} ${to} was answered ${status}`);
          if (status >= 500 && path !== "/broken") probe.found(`${caller} ${method} ${to} was answered ${status}`);
          if (!isLet && ![401, 403].includes(status)) probe.found(`${caller} ${method} ${to}: ${status}, not refused`);
          for (const leak of probe.canaries.leaksIn(text, caller))
            if (entity !== "auditEntry" || !OF_RECORDS.test(leak))
              probe.found(`${caller} ${method} ${to} shows ${leak}`);
        }
      }
    }
  },
};
