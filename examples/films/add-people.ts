import type { FilmsApi } from "./api.ts";
import { type PersonId, people } from "./people.ts";

/** Adds missing people of the demo. There is no caller, so the system adds them. */
export async function addPeople(api: FilmsApi, passwords: Readonly<Record<PersonId, string>>): Promise<void> {
  const { user } = api.asSystem();
  await Promise.all(
    people.map(async (person) => {
      if ((await user.count({ id: person.id })) === 0) await user.create({ ...person, password: passwords[person.id] });
    }),
  );
}
