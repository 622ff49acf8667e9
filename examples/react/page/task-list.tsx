import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { tasks } from "./queries.ts";

/** Tasks by page, with their projects. Lists and counts are refetched after every change. */
export function TaskList() {
  const [isOpenOnly, setOpenOnly] = useState(false);
  const where = isOpenOnly ? { isDone: false } : {};
  const { data: total } = useQuery(tasks.task.count.queryOptions({ isDone: false }));
  const list = useInfiniteQuery(
    tasks.task.list.infiniteQueryOptions({ where, sort: ["-createdAt", "title"], include: ["project"], limit: 10 }),
  );
  const change = useMutation(tasks.task.update.mutationOptions());
  const remove = useMutation(tasks.task.delete.mutationOptions());
  /** The expected state, shown until the list is refetched. */
  const changed = change.isPending ? change.variables.id : undefined;
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];

  return (
    <section aria-label="Tasks">
      <p>
        <output>{total === undefined ? "" : `${total} open`}</output>
        <label>
          <input type="checkbox" checked={isOpenOnly} onChange={() => setOpenOnly(!isOpenOnly)} />
          Open only
        </label>
      </p>
      <ul>
        {rows.map(({ id, title, isDone, project }) => (
          <li key={id}>
            <label className={isDone ? "done" : ""}>
              <input
                type="checkbox"
                checked={isDone !== (id === changed)}
                onChange={() => change.mutate({ id, data: { isDone: !isDone } })}
              />
              {title}
            </label>
            <span>{project?.name}</span>
            <button type="button" aria-label={`Delete ${title}`} onClick={() => remove.mutate({ id })}>
              ×
            </button>
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </button>
      )}
    </section>
  );
}
