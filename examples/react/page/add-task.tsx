import { useMutation, useQuery } from "@tanstack/react-query";
import { KeelsonClientError } from "keelson/client";
import { type FormEvent, useId } from "react";
import { tasks } from "./queries.ts";

/** A form that shows the API's errors at their fields. */
export function AddTask() {
  const errorId = useId();
  const { data: projects } = useQuery(tasks.project.list.queryOptions({ sort: ["name"] }));
  const create = useMutation(tasks.task.create.mutationOptions());
  const error = create.error instanceof KeelsonClientError ? create.error : null;
  const message = error?.errors?.title ?? create.error?.message;

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const data = { title: String(fields.get("title")), projectId: String(fields.get("project")) };
    create.mutate({ data }, { onSuccess: () => form.reset() });
  }

  return (
    <form onSubmit={submit}>
      <label>
        Title
        <input name="title" aria-invalid={message !== undefined} aria-describedby={errorId} />
      </label>
      <label>
        Project
        <select name="project">
          {projects?.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={create.isPending}>
        Add
      </button>
      <p id={errorId} role="alert">
        {message}
      </p>
    </form>
  );
}
