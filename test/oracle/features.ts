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
export type Feature = (typeof FEATURES)[number];
export type Features = ReadonlySet<Feature>;

/** @throws TypeError for a name that there is not */
export function featuresOf(only: readonly string[] | undefined): Features {
  const unknown = only?.find((one) => !(FEATURES as readonly string[]).includes(one));
  if (unknown !== undefined) throw new TypeError(`there is no feature "${unknown}": ${FEATURES.join(", ")}`);
  return new Set((only as readonly Feature[] | undefined) ?? FEATURES);
}
