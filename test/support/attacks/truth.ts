import { READERS, type Readers } from "../protected/truth.ts";

// Which caller may read what in the attacked entities, derived by hand from their rules.

const ownersAlone = { subject: "owner", body: "owner", seal: "owner", stamp: "nobody" } as const;

export const ATTACKED_READERS: Readers = {
  ...READERS,
  letter: ownersAlone,
  drawer: ownersAlone,
  account: { password: "nobody", token: "nobody" },
  contact: { secret: "nobody", pin: "nobody", margin: "admin" },
  bare: { text: "nobody" },
};
