/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { EntityDescription } from "../../app-document.ts";
import { CollectionActions } from "../actions/action-buttons.tsx";
import { Failure, Loading } from "../parts/status.tsx";
import { call } from "../state/api.ts";
import { actionWith, pathOf, plural, type Row, useApp } from "../state/app-context.ts";
import { goTo, linkTo, usePlace } from "../state/location.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { ColumnChoice } from "./columns.tsx";
import { ExportButton } from "./export.tsx";
import { Filters } from "./filters.tsx";
import { conditionsOf, type ListState, pageQuery, readList, writeList } from "./list-query.ts";
import { Table } from "./table.tsx";

/** Cursors of the previous pages, by the state of the list: the API's cursors only lead forward. */
const trails = new Map<string, readonly (string | undefined)[]>();

/** The list of an entity's records. */
export function List({ entity }: { readonly entity: EntityDescription }): VNode {
  const { app } = useApp();
  const { search } = usePlace();
  const state = readList(app, entity, search);
  const query = pageQuery(app, entity, state).toString();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const page = useRequest(`${entity.name} ${query}`, async (signal) => {
    const { data, headers } = await call<Row[]>(`${pathOf(app, entity)}?${query}`, { signal });
    return { rows: data, next: headers.get("x-next-cursor") ?? undefined };
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other records
  useEffect(() => setSelected(new Set()), [query]);

  const show = (change: Partial<ListState>): void =>
    goTo(linkTo([entity.path], writeList(app, entity, { ...state, after: undefined, ...change })));
  const reload = (): void => {
    setSelected(new Set());
    page.reload();
  };
  const rows = page.data?.rows ?? [];
  const canSelect =
    rows.length > 0 &&
    (entity.rights.delete !== undefined ||
      entity.actions.some(({ onRecord }) => onRecord) ||
      actionWith(entity, "bulkUpdate") !== undefined);
  return (
    <>
      <div class="top">
        <h1>{plural(entity)}</h1>
        <Tools entity={entity} state={state} onDone={reload} />
      </div>
      <div class="bar">
        {entity.searchable && <Search text={state.q} onSearch={(q) => show({ q })} />}
        {entity.deletedAt !== undefined && (
          <label class="inline">
            <input
              type="checkbox"
              checked={state.isDeleted}
              onChange={(event) => show({ isDeleted: event.currentTarget.checked })}
            />
            {say("deletedOnly")}
          </label>
        )}
        <ColumnChoice entity={entity} chosen={state.columns} onChange={(columns) => show({ columns })} />
      </div>
      <Filters entity={entity} state={state} onChange={show} />
      {selected.size > 0 && (
        <BulkBar
          entity={entity}
          ids={[...selected]}
          isDeleted={state.isDeleted}
          onDone={reload}
          onClear={() => setSelected(new Set())}
        />
      )}
      {page.error !== undefined && <Failure error={page.error} onRetry={page.reload} />}
      {page.data === undefined && page.error === undefined && <Loading />}
      {page.data !== undefined && rows.length === 0 && page.error === undefined && (
        <p class="empty">{say(conditionsOf(app, entity, state).size > 0 ? "noMatches" : "empty")}</p>
      )}
      {rows.length > 0 && page.error === undefined && (
        <div aria-busy={page.isLoading}>
          <Table
            entity={entity}
            rows={rows}
            columns={state.columns}
            sort={state.sort}
            onSort={(sort) => show({ sort })}
            isDeleted={state.isDeleted}
            {...(canSelect ? { selected, onSelect: setSelected } : {})}
          />
        </div>
      )}
      <Pages entity={entity} state={state} next={page.data?.next} shown={rows.length} onShow={show} />
    </>
  );
}

/** The actions for the whole list. */
function Tools({
  entity,
  state,
  onDone,
}: {
  readonly entity: EntityDescription;
  readonly state: ListState;
  readonly onDone: () => void;
}): VNode {
  const { app } = useApp();
  const link = (screen: string): string => linkTo([entity.path, screen], conditionsOf(app, entity, state));
  return (
    <div class="tools">
      {entity.rights.aggregate !== undefined && (
        <a class="button" href={link("!chart")}>
          {say("chart")}
        </a>
      )}
      <ExportButton entity={entity} conditions={conditionsOf(app, entity, state)} sort={state.sort} />
      {actionWith(entity, "import") !== undefined && (
        <a class="button" href={linkTo([entity.path, "!import"])}>
          {say("import")}
        </a>
      )}
      <CollectionActions entity={entity} onDone={onDone} />
      {entity.rights.create !== undefined && (
        <a class="button primary" href={linkTo([entity.path, "!new"])}>
          {say("create", { name: label(entity.name).toLowerCase() })}
        </a>
      )}
    </div>
  );
}

/** A box that searches all texts. The key `/` moves the focus to it. */
function Search({ text, onSearch }: { readonly text: string; readonly onSearch: (text: string) => void }): VNode {
  const box = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== "/" || (event.target as Element).closest("input, textarea, select, dialog") !== null) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    onSearch(typed);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: the form is the element that is submitted
    <form role="search" class="search" onSubmit={submit}>
      <input
        ref={box}
        type="search"
        aria-label={say("search")}
        aria-keyshortcuts="/"
        placeholder={`${say("search")}  /`}
        value={typed}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setTyped(value);
          if (value === "") onSearch("");
        }}
      />
      <button type="submit">{say("search")}</button>
    </form>
  );
}

interface PagesProps {
  readonly entity: EntityDescription;
  readonly state: ListState;
  readonly next: string | undefined;
  readonly shown: number;
  readonly onShow: (change: Partial<ListState>) => void;
}

const SIZES = [10, 20, 50, 100];

/** Links to the next and previous page, by cursor. The records are only counted on request. */
function Pages({ entity, state, next, shown, onShow }: PagesProps): VNode {
  const { app } = useApp();
  const conditions = conditionsOf(app, entity, state).toString();
  const key = `${entity.name} ${conditions} ${state.sort} ${state.limit}`;
  const [counted, setCounted] = useState<string | undefined>(undefined);
  const count = useRequest(counted === conditions ? `${entity.name} ${conditions}` : undefined, async (signal) => {
    const { headers } = await call(
      `${pathOf(app, entity)}?${conditions}${conditions === "" ? "" : "&"}select=id&_limit=1`,
      { signal },
    );
    return headers.get("x-total-count") ?? "?";
  });
  const trail = trails.get(key) ?? [];
  const forward = (): void => {
    trails.set(key, [...trail, state.after]);
    onShow({ after: next });
  };
  const back = (): void => {
    trails.set(key, trail.slice(0, -1));
    onShow({ after: trail.at(-1) });
  };
  return (
    <div class="pages">
      <button type="button" disabled={state.after === undefined} onClick={back}>
        ← {say(trail.length > 0 || state.after === undefined ? "previous" : "firstPage")}
      </button>
      <button type="button" disabled={next === undefined || shown < state.limit} onClick={forward}>
        {say("next")} →
      </button>
      <label class="inline">
        {say("rowsPerPage")}
        <select value={String(state.limit)} onChange={(event) => onShow({ limit: Number(event.currentTarget.value) })}>
          {[...new Set([...SIZES, app.limits.pageSize, state.limit])]
            .filter((size) => size <= app.limits.maxPageSize)
            .sort((a, b) => a - b)
            .map((size) => (
              <option key={size} value={size}>
                {size}
              </option>
            ))}
        </select>
      </label>
      {counted === conditions ? (
        <span role="status">{count.data === undefined ? say("counting") : say("of", { count: count.data })}</span>
      ) : (
        <button type="button" class="quiet" onClick={() => setCounted(conditions)}>
          {say("count")}
        </button>
      )}
    </div>
  );
}
