import type { Attack } from "./probe.ts";

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];

/** Requests that look up a name from the caller. `false`: must be refused; `true`: the name is a valid value there. */
const PLACES: readonly (readonly [write: (name: string) => string, isValue: boolean])[] = [
  [(name) => `/${name}`, false],
  [(name) => `/api/${name}`, false],
  [(name) => `/api/${name}/ann`, false],
  [(name) => `/api/people/${name}`, false],
  [(name) => `/api/people/${name}/exists`, true],
  [(name) => `/api/people/ann/${name}`, false],
  [(name) => `/raw/${name}`, false],
  [(name) => `/docs/${name}`, false],
  [(name) => `/health/${name}`, false],
  [(name) => `/api/people?${name}=x`, false],
  [(name) => `/api/people?${name}[x]=1`, false],
  [(name) => `/api/people?x[${name}][y]=1`, false],
  [(name) => `/api/people?${name}.name=x`, false],
  [(name) => `/api/people?name.${name}=x`, false],
  [(name) => `/api/people?boss.${name}=x`, false],
  [(name) => `/api/people?name_${name}=x`, false],
  [(name) => `/api/people?_sort=${name}`, false],
  [(name) => `/api/people?_sort=name&_order=${name}`, false],
  [(name) => `/api/people?select=${name}`, false],
  [(name) => `/api/people?include=${name}`, false],
  [(name) => `/api/people?include=boss.${name}`, false],
  [(name) => `/api/people?_embed=${name}`, false],
  [(name) => `/api/people?_total=${name}`, false],
  [(name) => `/api/letters?_deleted=${name}`, false],
  [(name) => `/api/people?_after=${name}`, false],
  [(name) => `/api/people?_after=${Buffer.from(`["${name},id","a","b"]`).toString("base64url")}`, false],
  [(name) => `/api/people/count?${name}=x`, false],
  [(name) => `/api/people/export?format=${name}`, false],
  [(name) => `/api/people?name=${name}`, true],
  [(name) => `/api/people?q=${name}`, true],
  [(name) => `/api/people?id=${name}`, true],
];

/** Property names that every object inherits, in every place where a name is looked up. */
export const prototypeNames: Attack = {
  name: "names that every object has",
  async run(probe) {
    const check = (at: string, status: number, isValue: boolean): void => {
      if (status >= 500 || (status < 400 && !isValue)) probe.found(`${at} was answered ${status}`);
      for (const polluted of ["polluted", "role", "x"])
        if (polluted in {}) probe.found(`${at} gave every object a "${polluted}"`);
    };
    for (const name of NAMES) {
      for (const [write, isValue] of PLACES)
        for (const caller of ["anonymous", "ann"] as const)
          for (const path of new Set([write(name), write(encodeURIComponent(name).replace("_", "%5F"))]))
            check(`${caller} GET ${path}`, (await probe.send(caller, "GET", path)).status, isValue);
      const email = `${name.replaceAll("_", "")}@proto.example`;
      const basics = `"email":"${email}","password":"long enough"`;
      const bodies: readonly (readonly [method: string, path: string, raw: string])[] = [
        ["POST", "/api/accounts", `{${basics},"${name}":{"polluted":true,"role":"admin"}}`],
        ["POST", "/api/accounts", `{${basics},"${name}":"x"}`],
        ["PATCH", "/api/people/ann", `{"${name}":{"polluted":true}}`],
        ["PATCH", "/api/people/ann", `{"name":{"${name}":{"polluted":true}}}`],
        ["PUT", "/api/people/bulk", `{"ids":["ann"],"data":{"${name}":{"polluted":true}}}`],
        ["PUT", "/api/people/bulk", `{"ids":["ann"],"data":{"name":"x"},"${name}":{"polluted":true}}`],
        ["POST", "/api/letters/letter-ann/rewrite", `{"text":"x","${name}":{"polluted":true}}`],
        ["POST", "/api/letters/letter-ann/renew", `{"pin":"a long pin","text":"x","${name}":{"polluted":true}}`],
      ];
      for (const [method, path, raw] of bodies)
        check(`ann ${method} ${path} ${raw}`, (await probe.send("ann", method, path, { raw })).status, false);
      const imported = await probe.send("ann", "POST", "/api/accounts/import", {
        raw: `email,password,${name}\n${email},long enough,x\n`,
        headers: { "content-type": "text/csv" },
      });
      check(`an import with a column ${name}`, imported.status, imported.json?.created === 0);
    }
    // As data, these names are valid.
    const answers = '{"constructor":{"prototype":{"polluted":true}},"list":[{"constructor":1}]}';
    const stored = await probe.send("ann", "PATCH", "/api/people/ann", { raw: `{"answers":${answers}}` });
    probe.control(stored.status === 200, `json was answered ${stored.status}`);
    check("json with a constructor in it", stored.status, true);
    const { status } = await probe.send("ann", "PATCH", "/api/people/ann", {
      raw: '{"answers":{"__proto__":{"polluted":true}}}',
    });
    check("json with a prototype in it", status, true);
  },
};
