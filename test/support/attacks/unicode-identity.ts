import { createTokenSigner } from "../../../src/plugins/jwt-auth/index.ts";
import { AUDIENCE, ISSUER, TOKEN_SECRET } from "./attacked-app.ts";
import type { Attack } from "./probe.ts";

/** Different spellings of one address, or of one that looks the same. */
const twins = (name: string): string[] => [
  `${name.toUpperCase()}@HOST.EXAMPLE`,
  `  ${name}@host.example  `,
  `\t${name}@host.example\n`,
  `\u00a0${name}@host.example`,
  `\ufeff${name}@host.example`,
  `${name}@Host.Example`,
  `${String.fromCharCode(0xfee0 + name.charCodeAt(0))}${name.slice(1)}@host.example`,
  `${name}@ｈost.example`,
  `${name}@host。example`,
  `${name}@ho\u017ft.example`,
  `${name}\u200b@host.example`,
  `${name}\u00ad@host.example`,
  `\u202e${name}@host.example`,
  `${name}\u0301@host.example`,
  `${name}@host.example\u0000`,
  `${name}@host.example\u200d`,
  `"${name}"@host.example`,
  `${name}(comment)@host.example`,
  `${name}@host.example.`,
];

/** Normalises an address the way a person, a mail server or a tolerant collation compares it. */
function identityOf(address: string): string {
  const plain = address.normalize("NFKC").toLowerCase().normalize("NFD");
  return plain.replace(/[\p{Mn}\p{Cf}\p{Cc}\s"]|\([^)]*\)|\.$/gu, "").replaceAll("。", ".");
}

/** One identity in two spellings. */
export const unicodeIdentity: Attack = {
  name: "one identity written in several ways",
  async run(probe) {
    for (const email of twins("ann"))
      for (const [method, path, body] of [
        ["POST", "/api/accounts", { email, password: "long enough" }],
        ["POST", "/api/accounts/import", [{ email, password: "long enough" }]],
        ["PATCH", "/api/accounts/account-bob", { email }],
        ["PUT", "/api/accounts/bulk", { ids: ["account-bob"], data: { email } }],
      ] as const) {
        const { status } = await probe.send("bob", method, path, { body });
        if (status >= 500) probe.found(`${method} ${path} of ${JSON.stringify(email)} was answered ${status}`);
      }
    const owners = new Map<string, unknown>();
    for (const { id, email } of await probe.stored("account")) {
      const identity = identityOf(String(email));
      if (owners.has(identity)) probe.found(`${owners.get(identity)} and ${id} share the address ${identity}`);
      owners.set(identity, id);
    }
    // Ids are compared exactly: a similar id belongs to another user.
    const sign = createTokenSigner({ secret: TOKEN_SECRET, issuer: ISSUER, audience: AUDIENCE });
    for (const sub of [
      "Ann",
      "ANN",
      "ann ",
      " ann",
      "ａnn",
      "ann\u200b",
      "ann\u0301",
      "ann\t",
      "a\u00adnn",
      "%61nn",
      "ann\\",
    ]) {
      const token = await sign({ sub });
      for (const path of ["/api/letters/letter-ann", "/api/letters?authorId=ann", "/api/drawers/drawer-ann"]) {
        const { status, json, text } = await probe.send("anonymous", "GET", path, { token });
        if (json?.length > 0 || (status < 400 && !Array.isArray(json)))
          probe.found(`"${sub}" is taken for ann at ${path}`);
        for (const leak of probe.canaries.leaksIn(text, "anonymous")) probe.found(`"${sub}" is shown ${leak}`);
      }
    }
    for (const id of ["LETTER-ANN", "letter-ann%20", "%20letter-ann", "letter-ａnn", "letter-ann%E2%80%8B"]) {
      const { status } = await probe.send("ann", "GET", `/api/letters/${encodeURI(id).replaceAll("%25", "%")}`);
      if (status < 400) probe.found(`${id} is taken for letter-ann`);
    }
  },
};
