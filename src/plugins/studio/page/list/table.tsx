/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { EntityDescription, FieldDescription } from "../../app-document.ts";
import { FieldValue } from "../fields/value.tsx";
import { widgetOf } from "../fields/widget.ts";
import { fieldOf, plural, type Row, titleOf } from "../state/app-context.ts";
import { linkTo } from "../state/location.ts";
import { label, say } from "../words.ts";

interface TableProps {
  readonly entity: EntityDescription;
  readonly rows: readonly Row[];
  readonly columns: readonly string[];
  /** `_sort` of the API. Without `onSort` the headers cannot be clicked. */
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
  /** Ids of the selected rows. Without it the table has no checkboxes. */
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (ids: ReadonlySet<string>) => void;
  readonly isDeleted?: boolean;
}

/** Records as rows, or as cards on narrow screens. */
export function Table({ entity, rows, columns, sort = "", onSort, selected, onSelect, isDeleted }: TableProps): VNode {
  const fields = columns.flatMap((name) => fieldOf(entity, name) ?? []);
  const ids = rows.map(({ id }) => String(id));
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect?.(next);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={plural(entity)}>
      <table class="records">
        <thead>
          <tr>
            {selected !== undefined && (
              <th class="box">
                <input
                  type="checkbox"
                  aria-label={say("selectAll")}
                  checked={ids.length > 0 && ids.every((id) => selected.has(id))}
                  onChange={(event) => onSelect?.(new Set(event.currentTarget.checked ? ids : []))}
                />
              </th>
            )}
            {fields.map((field) => (
              <Header key={field.name} field={field} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={String(row.id)} class={selected?.has(String(row.id)) === true ? "selected" : undefined}>
              {selected !== undefined && (
                <td class="box">
                  <input
                    type="checkbox"
                    aria-label={say("select", { title: titleOf(entity, row) })}
                    checked={selected.has(String(row.id))}
                    onChange={() => toggle(String(row.id))}
                  />
                </td>
              )}
              {fields.map((field, index) => (
                <td
                  key={field.name}
                  data-label={label(field.relation ?? field.name)}
                  class={isNumber(field) ? "number" : undefined}
                >
                  {index === 0 ? (
                    <a class="row-link" href={linkTo([entity.path, String(row.id)], isDeleted ? { deleted: "1" } : {})}>
                      {field.name === entity.title || field.relation !== undefined
                        ? titleOf(entity, row)
                        : String(row[field.name] ?? row.id)}
                    </a>
                  ) : (
                    <FieldValue entity={entity} field={field} record={row} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function isNumber(field: FieldDescription): boolean {
  return ["number", "exact"].includes(widgetOf(field));
}

interface HeaderProps {
  readonly field: FieldDescription;
  readonly sort: string;
  readonly onSort: ((sort: string) => void) | undefined;
}

/** The header of a column. A click sorts by the column; another click reverses the order. */
function Header({ field, sort, onSort }: HeaderProps): VNode {
  const { name } = field;
  const text = label(field.relation ?? name);
  const direction = sort === name ? "ascending" : sort === `-${name}` ? "descending" : undefined;
  const className = isNumber(field) ? "number" : undefined;
  if (onSort === undefined || field.sortable !== true) return <th class={className}>{text}</th>;
  return (
    <th class={className} aria-sort={direction ?? "none"}>
      <button type="button" class="sort" onClick={() => onSort(sort === name ? `-${name}` : name)}>
        {text}
        <span aria-hidden="true">{direction === undefined ? "" : direction === "ascending" ? " ↑" : " ↓"}</span>
      </button>
    </th>
  );
}
