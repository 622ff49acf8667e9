import type { Journal } from "./saga-runtime.ts";

/** Remembers nothing: the run lives as long as its process. */
export const memoryJournal: Journal = Object.freeze<Journal>({
  started: async () => {},
  finished: async () => {},
  moved: async () => {},
});
