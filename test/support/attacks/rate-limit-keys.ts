import type { CallerName } from "../protected/truth.ts";
import { LOGINS } from "./attacked-app.ts";
import type { Attack } from "./probe.ts";

const ADDRESS_HEADERS = [
  "x-forwarded-for",
  "x-real-ip",
  "x-client-ip",
  "cf-connecting-ip",
  "true-client-ip",
  "x-cluster-client-ip",
  "forwarded",
  "x-forwarded-host",
];

/** Getting a new quota with another address, name, body or path. */
export const rateLimitKeys: Attack = {
  name: "new quotas by other keys",
  async run(probe) {
    let passed = 0;
    const note = (status: number): void => void (passed += status < 400 ? 1 : 0);
    const login = async (caller: CallerName, path: string, headers: Record<string, string>, body: unknown) =>
      note((await probe.send(caller, "POST", path, { body, headers })).status);
    for (let i = 0; i < LOGINS + 3; i++) await login("anonymous", "/login", {}, { email: "a@host.example" });
    probe.control(passed > 0, "nobody can log in at all");
    for (let i = 0; i < 6; i++) {
      for (const name of ADDRESS_HEADERS) {
        const address = name === "forwarded" ? `for=203.0.113.${i}` : `203.0.113.${i}`;
        await login("anonymous", "/login", { [name]: address }, { email: "a@host.example" });
      }
      await login("anonymous", "/login", { "user-agent": `agent ${i}` }, { email: `a${i}@host.example` });
      await login("anonymous", `/login?_=${i}`, { cookie: `session=${i}` }, { email: "a@host.example", nonce: i });
      for (const caller of ["ann", "bob", "root"] as const) await login(caller, "/login", {}, {});
      await login("anonymous", "/login", { authorization: `Bearer ${i}` }, {});
    }
    for (const target of ["/login/", "//login", "/./login", "/LOGIN", "/%6cogin", "/login#x", "/login;x", "/login%20"])
      note((await probe.sendTarget("anonymous", "POST", target, ["Content-Type: application/json"])).status);
    if (passed > LOGINS) probe.found(`${passed} logins were let through, of ${LOGINS}`);
  },
};
