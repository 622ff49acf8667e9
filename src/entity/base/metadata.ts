/**
 * Metadata of definitions for plugins, by key. A plugin adds its keys by declaration merging:
 * `declare module "keelson/plugin" { interface Metadata { "acme/label": string } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: its members come from plugins
export interface Metadata {}

/** The metadata of one definition. */
export type GivenMetadata = { readonly [K in keyof Metadata]?: Metadata[K] | undefined };

/** Adds a value to metadata. */
export function withMetadata(given: GivenMetadata | undefined, key: string, value: unknown): GivenMetadata {
  return Object.freeze({ ...given, [key]: value });
}
