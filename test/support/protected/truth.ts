import type { User } from "../../../src/index.ts";

// Which caller may read what, derived by hand from the documentation.

/** The callers that may read a field. "everyone": on each record that they may read at all. */
export type Reader = "nobody" | "everyone" | "admin" | "owner" | "ownerOrAdmin" | "hr" | "mentor" | "viewer";

/** The same for each protected field of each entity. */
export type Readers = Readonly<Record<string, Readonly<Record<string, Reader>>>>;

export const READERS: Readers = {
  person: {
    password: "nobody",
    apiToken: "nobody",
    recovery: "nobody",
    ssn: "everyone",
    diary: "everyone",
    accountNumber: "everyone",
    bornAt: "everyone",
    answers: "everyone",
    adminNote: "admin",
    adminSecret: "admin",
    salary: "ownerOrAdmin",
    ownNote: "owner",
    ownSecret: "ownerOrAdmin",
    hrNote: "hr",
    mentorNote: "mentor",
    nobodysNote: "nobody",
  },
  note: { token: "nobody", secret: "everyone", memo: "owner", shared: "viewer" },
  // Only an administrator may read the record.
  vault: { label: "admin", content: "admin" },
  badge: { pin: "nobody", serial: "admin" },
};

export type CallerName = "anonymous" | "ann" | "bob" | "root";

export const CALLERS: Readonly<Record<CallerName, User | null>> = {
  anonymous: null,
  ann: { id: "ann" },
  bob: { id: "bob" },
  root: { id: "root", role: "admin" },
};

/** The authenticated callers. */
export const USERS = ["ann", "bob", "root"] as const;

/** What the rules use besides the record's fields. */
export interface Facts {
  readonly owner?: string | undefined;
  readonly mentor?: string | undefined;
  readonly viewers?: readonly string[] | undefined;
}

export function mayRead(caller: CallerName, reader: Reader, { owner, mentor, viewers = [] }: Facts): boolean {
  switch (reader) {
    case "nobody":
      return false;
    case "everyone":
      return true;
    case "admin":
      return caller === "root";
    case "owner":
      return caller === owner;
    case "ownerOrAdmin":
      return caller === owner || caller === "root";
    case "hr":
      return caller === "bob";
    case "mentor":
      return caller === mentor;
    case "viewer":
      return viewers.includes(caller);
  }
}
