/** The library that is looked at: this checkout's, or that of an earlier commit (`--against`). */
const source = process.env.ORACLE_SOURCE;
export const library: typeof import("keelson") =
  source === undefined ? await import("keelson") : await import(/* @vite-ignore */ source);
