/** @jsxImportSource preact */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { messageOf } from "../state/api.ts";
import { say } from "../words.ts";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** A modal window. It keeps the focus until it is closed. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  return (
    <dialog ref={element} class={isWide ? "wide" : undefined} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label={say("close")} onClick={onClose}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text?: string;
  readonly submit: string;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<void>;
}

/** Asks for confirmation. */
export function Confirm({ title, text, submit, onClose, onConfirm }: ConfirmProps): VNode {
  const [error, setError] = useState<string | undefined>(undefined);
  const confirm = async (): Promise<void> => {
    try {
      await onConfirm();
    } catch (caught) {
      setError(messageOf(caught));
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {error !== undefined && (
        <p class="alert" role="alert">
          {error}
        </p>
      )}
      {text !== undefined && <p>{text}</p>}
      <div class="buttons">
        <button type="button" class="danger" onClick={() => void confirm()}>
          {submit}
        </button>
        <button type="button" onClick={onClose}>
          {say("cancel")}
        </button>
      </div>
    </Dialog>
  );
}
