/** The features of scenarios. `--only` excludes the others, so that each can be tested separately. */
export const FEATURES = [
  "basics",
  "creates",
  "pairs",
  "races",
  "conjunctions",
  "paths",
  "steps",
  "guesses",
  "replays",
  "documents",
  "handlers",
  "queries",
  "nested",
  "combined",
  "search",
  "bytes",
  "computed",
  "waits",
] as const;
/** Plugins of `examples/plugins` that an app may have, one at a time (`--with`). */
export const COMPANIONS = ["tenancy", "casl"] as const;
export type Feature = (typeof FEATURES)[number] | (typeof COMPANIONS)[number];
/** What only SQL databases do. */
export const SQL_FEATURES: readonly Feature[] = ["computed"];
export type Features = ReadonlySet<Feature>;

/** @throws TypeError for an unknown name */
export function featuresOf(only: readonly string[] = FEATURES, companion?: string): Features {
  const known = (names: readonly string[], name: string): void => {
    if (!names.includes(name)) throw new TypeError(`there is no "${name}", only ${names.join(", ")}`);
  };
  for (const one of only) known(FEATURES, one);
  if (companion !== undefined) known(COMPANIONS, companion);
  // The CASL example does not support rules of actions or document readers.
  const told = companion === "casl" ? only.filter((one) => one !== "handlers" && one !== "documents") : only;
  return new Set([...told, ...(companion === undefined ? [] : [companion])] as readonly Feature[]);
}
