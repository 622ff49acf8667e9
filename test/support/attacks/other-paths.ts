import type { Attack, Probe } from "./probe.ts";

/** The same path, written so that a guard and a server could read it differently. */
function spellings(path: string): string[] {
  const [, first = "", ...rest] = path.split("/");
  const tail = rest.length === 0 ? "" : `/${rest.join("/")}`;
  const last = path.slice(path.lastIndexOf("/") + 1);
  const before = path.slice(0, path.lastIndexOf("/"));
  return [
    path,
    `/${path}`,
    `//${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `/x/%2e%2e${path}`,
    `/${first}/.${tail}`,
    `/${first}/${tail}`,
    `/${first}/x/..${tail}`,
    `/${first}/people/..${tail}`,
    `/${first}/people/%2E%2E${tail}`,
    `/${first}/people/..%2f${rest.join("/")}`,
    `/${first}\\${rest.join("\\")}`,
    `/${first}%2f${rest.join("%2f")}`,
    `/${first}%5c${rest.join("/")}`,
    `/${first};x=1${tail}`,
    `/${first.toUpperCase()}${tail}`,
    path.toUpperCase(),
    `${path}/`,
    `${path}//`,
    `${path}/.`,
    `${path}/x/..`,
    `${path};x`,
    `${path}.json`,
    `${path}%20`,
    `${path}%00`,
    `${path}%0a`,
    `${path}%3f`,
    `${path}%23`,
    `${path}#x`,
    `${path}?`,
    `${path}?/public`,
    `${path}/..;/${last}`,
    `${before}/%${last.charCodeAt(0).toString(16)}${last.slice(1)}`,
    `${before}/%25${last.charCodeAt(0).toString(16)}${last.slice(1)}`,
    `${before}/${last.slice(0, 1)}%c0%80${last.slice(1)}`,
    `http://test.invalid${path}`,
    `http://attacker.example${path}`,
    `https://test.invalid/${path}`,
  ];
}

const PATHS = ["/api/letters/letter-ann", "/api/letters", "/api/vaults", "/every-vault", "/unruled", "/mine"];
const OVERRIDES = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"];
const REWRITES = ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Path", "X-Forwarded-Prefix"];

/** Protected routes under other spellings and methods. */
export const otherPaths: Attack = {
  name: "other spellings of paths and methods",
  async run(probe) {
    for (const path of PATHS)
      for (const caller of ["anonymous", "bob"] as const) {
        const isOpen = caller === "bob" && ["/api/letters", "/mine"].includes(path);
        for (const method of ["GET", "HEAD"])
          for (const target of spellings(path)) await knock(probe, caller, method, target, isOpen);
      }
    for (const header of REWRITES) {
      const { status, body } = await probe.sendTarget("bob", "GET", "/health/live", [`${header}: /every-vault`]);
      if (status !== 200 || body.includes("cnry")) probe.found(`${header} leads somewhere else (${status})`);
    }
    await overrides(probe);
  },
};

async function knock(
  probe: Probe,
  caller: "anonymous" | "bob",
  method: string,
  target: string,
  isOpen: boolean,
): Promise<void> {
  const { status, body } = await probe.sendTarget(caller, method, target);
  if (status >= 500 || (status < 400 && !isOpen)) probe.found(`${caller} ${method} ${target} was answered ${status}`);
  for (const leak of probe.canaries.leaksIn(body, caller)) probe.found(`${caller} ${method} ${target} shows ${leak}`);
}

/** No header, parameter or field overrides the method. */
async function overrides(probe: Probe): Promise<void> {
  const made = await probe.send("ann", "POST", "/api/letters", { body: { subject: "kept", body: "b", seal: "s" } });
  probe.control(made.status === 201, `ann cannot write a letter: ${made.status}`);
  const path = `/api/letters/${made.json.id}`;
  for (const method of ["GET", "POST", "PUT", "PATCH", "HEAD", "OPTIONS"]) {
    const body = ["GET", "HEAD", "OPTIONS"].includes(method) ? {} : { body: {} };
    for (const header of OVERRIDES) await probe.send("ann", method, path, { ...body, headers: { [header]: "DELETE" } });
    for (const query of ["_method=DELETE", "method=DELETE", "_method=delete&x=1"])
      await probe.send("ann", method, `${path}?${query}`, body);
    if (method !== "GET" && method !== "HEAD") await probe.send("ann", method, path, { body: { _method: "DELETE" } });
  }
  if (!(await probe.stored("letter")).some(({ id }) => id === made.json.id))
    probe.found("a letter was deleted by another method");
}
