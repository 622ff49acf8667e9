import { visitor } from "../../notes/caller.ts";
import { api } from "../api.ts";

export const dynamic = "force-dynamic";

/** The published notes, without HTTP but under the same rules. */
export default async function Page() {
  const { data } = await api.as(visitor).note.list({ sort: ["-createdAt"], include: ["author"], limit: 10 });
  return (
    <main>
      <h1>Notes</h1>
      <ul>
        {data.map(({ id, title, author }) => (
          <li key={id}>
            {title}, by {author?.name}
          </li>
        ))}
      </ul>
    </main>
  );
}
