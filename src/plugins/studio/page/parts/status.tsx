/** @jsxImportSource preact */
import type { VNode } from "preact";
import { messageOf } from "../state/api.ts";
import { say } from "../words.ts";

/** Says that something has not come yet. */
export function Loading(): VNode {
  return (
    <p class="loading" role="status">
      {say("loading")}
    </p>
  );
}

/** Says that something went wrong, and offers another try. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): VNode {
  return (
    <div class="alert" role="alert">
      <p>{messageOf(error)}</p>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {say("reload")}
        </button>
      )}
    </div>
  );
}
