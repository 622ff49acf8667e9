import { memoryDriver } from "keelson";
import { createNotes, type NotesApi } from "../notes/api.ts";

// `next build` loads every route once. It must not open the database.
const isBuild = process.env.NEXT_PHASE === "phase-production-build";

// `next dev` reloads a file when it changes; the database stays open.
const kept = globalThis as { notes?: NotesApi };

// A demo creates its tables itself, in production too; a real API does that during deployment.
export const api = (kept.notes ??= createNotes({ production: false, ...(isBuild && { driver: memoryDriver() }) }));
