/** What scenarios have in them. `--only` leaves the others out, so that each weakness can be looked for by itself. */
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
] as const;
/** Plugins of `examples/plugins` that an app has besides, one at a time (`--with`). */
export const COMPANIONS = ["tenancy", "casl"] as const;
export type Feature = (typeof FEATURES)[number] | (typeof COMPANIONS)[number];
export type Features = ReadonlySet<Feature>;

/** @throws TypeError for a name that there is not */
export function featuresOf(only: readonly string[] = FEATURES, companion?: string): Features {
  const known = (names: readonly string[], name: string): void => {
    if (!names.includes(name)) throw new TypeError(`there is no "${name}", only ${names.join(", ")}`);
  };
  for (const one of only) known(FEATURES, one);
  if (companion !== undefined) known(COMPANIONS, companion);
  // The example of CASL says nothing of rules of actions, nor to readers of documents.
  const told = companion === "casl" ? only.filter((one) => one !== "handlers" && one !== "documents") : only;
  return new Set([...told, ...(companion === undefined ? [] : [companion])] as readonly Feature[]);
}
