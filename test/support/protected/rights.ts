import type { CallerName } from "./truth.ts";

// What a query may use of the protected fields, written by hand: f = filter, s = sort, r = select. A field that only some
// records show can be filtered on, together with the condition that decides, but not sorted by; a field that code decides
// per record can only be read. Encrypted fields cannot be sorted by; without a blind index they cannot be filtered on
// either.

type Rights = Readonly<Record<CallerName, string>>;

const all = (rights: string): Rights => ({ anonymous: rights, ann: rights, bob: rights, root: rights });
const none = all("");
const users = (rights: string, root = rights): Rights => ({ ...all(rights), anonymous: "", root });
const rootOnly = (root: string): Rights => ({ ...none, root });

export const RIGHTS: Readonly<Record<string, Readonly<Record<string, Rights>>>> = {
  person: {
    password: none,
    apiToken: none,
    recovery: none,
    ssn: all("fr"),
    diary: all("r"),
    accountNumber: all("fr"),
    bornAt: all("r"),
    answers: all("r"),
    adminNote: rootOnly("fsr"),
    adminSecret: rootOnly("fr"),
    salary: users("fr", "fsr"),
    ownNote: users("fr"),
    ownSecret: users("fr"),
    hrNote: { ...none, bob: "fsr" },
    mentorNote: all("r"),
    nobodysNote: none,
    ssnBidx: none,
    accountNumberBidx: none,
    adminSecretBidx: none,
    ownSecretBidx: none,
  },
  note: { token: none, secret: all("r"), memo: users("fr"), shared: users("fr") },
  vault: { label: rootOnly("fsr"), content: rootOnly("fr"), contentBidx: none },
  badge: { pin: none, serial: rootOnly("fsr") },
};

/** Names that a caller may not filter on, sort by or select. */
export function withheld(entity: string, caller: CallerName, right: "f" | "s" | "r"): readonly string[] {
  const fields = Object.entries(RIGHTS[entity] ?? {});
  return fields.filter(([, rights]) => !rights[caller].includes(right)).map(([name]) => name);
}
