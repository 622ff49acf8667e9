/** @jsxImportSource preact */
import type { VNode } from "preact";
import { messageOf } from "../state/api.ts";
import { say } from "../words.ts";

/** Shows that data is being loaded. */
export function Loading(): VNode {
  return (
    <p class="loading" role="status">
      {say("loading")}
    </p>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Heading, for a screen that shows only the error. */
  readonly title?: string;
}

/** Shows an error, with a button to try again. */
export function Failure({ error, onRetry, title }: FailureProps): VNode {
  return (
    <>
      {title !== undefined && <h1>{title}</h1>}
      <div class="alert" role="alert">
        <p>{messageOf(error)}</p>
        {onRetry !== undefined && (
          <button type="button" onClick={onRetry}>
            {say("reload")}
          </button>
        )}
      </div>
    </>
  );
}
