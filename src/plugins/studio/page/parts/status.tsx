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

interface FailureProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Heading of a screen that shows nothing else. */
  readonly title?: string;
}

/** Says that something went wrong, and offers another try. */
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
