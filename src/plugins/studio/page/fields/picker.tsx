/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { EntityDescription } from "../../app-document.ts";
import { call } from "../state/api.ts";
import { fieldOf, pathOf, type Row, titleOf, useApp } from "../state/app-context.ts";
import { useRequest } from "../state/use-request.ts";
import { say } from "../words.ts";

/** Maximum number of records that a picker shows. */
const SHOWN = 10;

interface PickerProps {
  /** Entity of the records to choose from; the picker lists the records that the caller may read. */
  readonly entity: EntityDescription;
  /** Id of the chosen record; empty when no record is chosen. */
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly id: string;
  readonly label?: string | undefined;
  readonly describedBy?: string | undefined;
  readonly isInvalid?: boolean;
  /** Clears the box after each choice, because the caller of the component keeps the choices. */
  readonly isOneOfMany?: boolean;
}

/** A box that finds related records by typing. */
export function Picker({
  entity,
  value,
  onChange,
  id,
  label,
  describedBy,
  isInvalid = false,
  isOneOfMany,
}: PickerProps): VNode {
  const { app } = useApp();
  const listId = useId();
  const box = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [active, setActive] = useState(0);
  const isOpen = typed !== undefined;
  const chosen = useRequest(value === "" ? undefined : `${entity.name} ${value}`, async (signal) => {
    const { data } = await call<Row>(`${pathOf(app, entity, "/:id", value)}?${selected(entity)}`, { signal });
    return titleOf(entity, data);
  });
  const text = useDelayed(typed, 150);
  const found = useRequest(text === undefined ? undefined : `${entity.name} ${text}`, async (signal) => {
    const { data } = await call<Row[]>(`${pathOf(app, entity)}?${searchFor(entity, text ?? "")}`, { signal });
    return data;
  });
  const options = isOpen ? (found.data ?? []) : [];
  const choose = (record: Row | undefined): void => {
    setTyped(undefined);
    if (record !== undefined) onChange(String(record.id));
    else if (typed === "" && isOneOfMany !== true) onChange("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      event.preventDefault();
      setTyped(undefined);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) setTyped("");
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((now) => (options.length === 0 ? 0 : (now + step + options.length) % options.length));
    } else if (event.key === "Enter" && isOpen) {
      event.preventDefault();
      if (!found.isLoading) choose(options[active]);
    }
  };
  const shown = typed ?? (value === "" ? "" : (chosen.data ?? value));
  // The title of the chosen record may arrive when the box already has the focus: select it, so that typing replaces
  // it.
  useLayoutEffect(() => {
    if (!isOpen && shown !== "" && document.activeElement === box.current) box.current?.select();
  }, [shown, isOpen]);
  return (
    <div class="picker">
      <input
        ref={box}
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isOpen && options.length > 0}
        aria-controls={listId}
        aria-activedescendant={isOpen && options[active] !== undefined ? `${listId}-${active}` : undefined}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        placeholder={say("choose")}
        value={shown}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => {
          if (typed === undefined) setTyped("");
        }}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => choose(undefined)}
      />
      <div id={listId} role="listbox" aria-label={say("choose")} hidden={options.length === 0}>
        {options.map((record, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the box has the focus and names the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the box handles the keys
          <div
            key={String(record.id)}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(record)}
          >
            {titleOf(entity, record)}
          </div>
        ))}
      </div>
    </div>
  );
}

function selected({ title }: EntityDescription): string {
  return new URLSearchParams({ select: title === "id" ? "id" : `id,${title}` }).toString();
}

/** The query for the typed text: a part of the title, else any text of the record, else the id. */
function searchFor(entity: EntityDescription, text: string): string {
  const query = new URLSearchParams(selected(entity));
  query.set("_limit", String(SHOWN));
  query.set("_total", "none");
  const title = fieldOf(entity, entity.title);
  if (title?.sortable === true) query.set("_sort", title.name);
  if (text.trim() !== "") {
    if (title?.operators?.includes("like") === true) query.set(`${title.name}_like`, text.trim());
    else if (entity.searchable) query.set("q", text.trim());
    else query.set("id", text.trim());
  }
  return query.toString();
}

/** A value that follows after a delay in milliseconds. The first value, an empty one and undefined come at once. */
function useDelayed(value: string | undefined, ms: number): string | undefined {
  const [late, setLate] = useState(value);
  useEffect(() => {
    if (value === undefined || value === "") {
      setLate(value);
      return;
    }
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return late;
}
