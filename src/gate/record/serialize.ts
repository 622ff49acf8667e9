import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { type Presenter, presentPlain } from "../../kernel/index.ts";
import type { Row } from "../condition/where.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { shapeOf } from "./record-shape.ts";
import { showsField } from "./row-access.ts";
import { entityOfRecord } from "./tag-record.ts";

/**
 * A value as plain JSON data with every record in it, at any depth, masked for the caller. `wire` turns moments into ISO text;
 * without it they stay `Date`s, for callers in the process. Where a mask is not final yet it shows too little; see
 * `presentSettled`.
 * @throws InternalError for what is nested too deeply, or circular
 */
export function present(value: unknown, scope: OperationScope, wire: boolean, depth = 0): unknown {
  return presentPlain(value, new RecordPresenter(scope, wire), depth);
}

/** Shows records as their masks say. */
class RecordPresenter implements Presenter {
  readonly wire: boolean;
  readonly #scope: OperationScope;

  constructor(scope: OperationScope, wire: boolean) {
    this.#scope = scope;
    this.wire = wire;
  }

  marked(value: object, depth: number): unknown {
    const entity = entityOfRecord(value);
    return entity && presentRecord(value as Row, entity, this.#scope, this, depth);
  }
}

function presentRecord(
  record: Row,
  entity: AnyEntity,
  scope: OperationScope,
  presenter: Presenter,
  depth: number,
): Row {
  const mask = scope.mask(entity);
  scope.shown?.note(entity, record);
  const { columns, relations } = shapeOf(entity, mask);
  const perRow = mask.readablePerRow;
  const plain: Row = {};
  for (let i = 0; i < columns.length; i++) {
    const { name, kind } = columns[i] as ColumnDefinition;
    const value = record[name];
    if (value === undefined) continue;
    const access = perRow?.get(name);
    if (access !== undefined && !showsField(scope, entity, record, name, access)) continue;
    // Code may have put a record into a JSON column.
    if (kind.toWire === undefined) plain[name] = presentPlain(value, presenter, depth + 1);
    else plain[name] = presenter.wire && value !== null ? kind.toWire(value) : value;
  }
  for (const name of relations) {
    const related = record[name];
    if (related !== undefined) plain[name] = presentPlain(related, presenter, depth + 1);
  }
  return plain;
}

/** The only way out: as `present`, with masks that are final. It is presented again when it met some that were not. */
export async function presentSettled(value: unknown, scope: OperationScope, wire: boolean): Promise<unknown> {
  for (;;) {
    const plain = present(value, scope, wire);
    const pending = scope.maskReady();
    if (pending === undefined) return plain;
    await pending;
  }
}
