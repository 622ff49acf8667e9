/** Next runs this once, before the server takes its first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  // Loaded here and not above, so that no bundle for another runtime has it.
  const [{ addPeople }, { api }] = await Promise.all([import("../notes/add-people.ts"), import("./api.ts")]);
  await addPeople(api);
}
