import type { NotesApi } from "./api.ts";

/** Adds two people and a note, unless people exist. */
export async function addPeople(api: NotesApi): Promise<void> {
  await api.ready;
  const system = api.asSystem();
  if ((await system.user.count()) > 0) return;
  await system.user.create({ id: "ann", name: "Ann" });
  await system.user.create({ id: "bob", name: "Bob" });
  await system.note.create({ title: "Hello", text: "From Ann.", published: true, authorId: "ann" });
}
