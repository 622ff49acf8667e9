/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { call, messageOf } from "../state/api.ts";
import { useApp } from "../state/app-context.ts";
import { goTo } from "../state/location.ts";
import { view } from "../state/signed-in.ts";
import { say } from "../words.ts";

/** Shows the app as another user sees it. */
export function ViewAs({ path }: { readonly path: string }): VNode {
  const { restart } = useApp();
  const id = useId();
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string | undefined>(undefined);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const user = typed.trim();
    if (user === "") return;
    setError(undefined);
    const place = `${path}/${encodeURIComponent(user)}`;
    try {
      await call(place);
    } catch (caught) {
      setError(messageOf(caught));
      return;
    }
    view(place);
    goTo("#/");
    restart();
  };
  return (
    <section class="card" aria-label={say("viewAsUser")}>
      <h2>{say("viewAsUser")}</h2>
      <p>{say("viewAsHint")}</p>
      <form class="search" onSubmit={(event) => void submit(event)}>
        <label for={`${id}-user`} class="hidden">
          {say("userId")}
        </label>
        <input
          id={`${id}-user`}
          placeholder={say("userId")}
          value={typed}
          aria-invalid={error !== undefined}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit">{say("view")}</button>
      </form>
      {error !== undefined && (
        <p class="alert" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}
