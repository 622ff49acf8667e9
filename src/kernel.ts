// keelson/kernel: everything that first-party plugins and drivers import, for authors of others. Re-exports only.
export * from "./entity/index.ts";
export * from "./gate/index.ts";
export * from "./kernel/index.ts";
