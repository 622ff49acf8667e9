/** Next.js runs this once, before the server accepts its first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  // Imported here and not at the top, so that bundles for other runtimes do not contain it.
  const [{ addPeople }, { api }] = await Promise.all([import("../notes/add-people.ts"), import("./api.ts")]);
  await addPeople(api);
}
