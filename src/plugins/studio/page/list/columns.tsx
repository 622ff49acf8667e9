/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { EntityDescription } from "../../app-document.ts";
import { label, say } from "../words.ts";
import { possibleColumns } from "./list-query.ts";

interface ColumnChoiceProps {
  readonly entity: EntityDescription;
  readonly chosen: readonly string[];
  readonly onChange: (columns: readonly string[]) => void;
}

/** The choice of a list's columns. */
export function ColumnChoice({ entity, chosen, onChange }: ColumnChoiceProps): VNode {
  const toggle = (name: string): void => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    if (next.length > 0) onChange(next);
  };
  return (
    <details class="menu">
      <summary class="button">{say("columns")}</summary>
      <div class="choices">
        {possibleColumns(entity).map(({ name, relation }) => (
          <label key={name} class="inline">
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
            {label(relation ?? name)}
          </label>
        ))}
      </div>
    </details>
  );
}
