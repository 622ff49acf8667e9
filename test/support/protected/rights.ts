import type { CallerName } from "./truth.ts";

// What may be asked about protected fields, written by hand: f = filtered on, s = sorted by, r =
// selected. A field that only some records show can be filtered on, together with what decides, and not sorted by; one
// that code decides record by record can only be read. No encrypted field is sorted by; without a blind index it cannot
// be filtered on either.

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
