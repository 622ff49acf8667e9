import { ATTACKERS } from "./private-objects.ts";
import type { Attack } from "./probe.ts";

type Who = "everybody" | "users" | "admins" | "nobody";

// Who may get anything at all from a route, by hand from the rules of the entities. A route that stands nowhere here is
// one that nobody thought of. The first that fits counts.
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
  [/^PUT \/api\/(?:people|accounts)$/, "everybody"], // an upsert creates, too
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
  [/^POST \/api\/batch$/, "everybody"], // each item asks for itself
];

/** What is withheld with the whole record alone: whoever may read entries about all records sees it there. */
const OF_RECORDS = /^(?:letter|drawer)\.(?:subject|body) /;

/** Every route of the app as everybody: what is open must be meant to be, and show nothing that is not. */
export const sideDoors: Attack = {
  name: "doors that forget to ask",
  async run(probe) {
    probe.control(probe.routes.length > 100, "the app tells its routes");
    for (const { method, path, entity } of [...probe.routes].reverse()) {
      const who = ROUTES.find(([routes]) => routes.test(`${method} ${path}`))?.[1] ?? "nobody";
      for (const caller of ATTACKERS) {
        const isLet = { everybody: true, users: caller !== "anonymous", admins: caller === "root", nobody: false }[who];
        for (const id of [entity === "person" ? "ann" : `${entity}-ann`, "missing"]) {
          const body = { name: "x", ids: [id], data: {} };
          const to = path.replace(":id", id).replace(":file", "x");
          const init = method === "GET" ? {} : { body };
          // An account of their own is what everybody else needs after this.
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
