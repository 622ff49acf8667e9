import { memoryDriver } from "keelson";
import { createNotes, type NotesApi } from "../notes/api.ts";

// `next build` loads every route once. It has no business in the database.
const isBuild = process.env.NEXT_PHASE === "phase-production-build";

// `next dev` loads a file anew when it has changed; the database stays open.
const kept = globalThis as { notes?: NotesApi };

// A demo makes its tables itself, in production too; an API of yours does that when it is deployed.
export const api = (kept.notes ??= createNotes({ production: false, ...(isBuild && { driver: memoryDriver() }) }));
