// keelson/kernel: everything that plugins and drivers of ours import, for authors of others. Re-exports only.
export * from "./entity/index.ts";
export * from "./kernel/index.ts";
