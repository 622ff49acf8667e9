import { ConfigurationError } from "../../../entity/index.ts";
import { type EntityRef, entityName, type Row, type Where } from "../../../gate/index.ts";
import { ConflictError, EntityNotFoundError } from "../../../kernel/index.ts";
import { type Step, WithMemo } from "../definition/step.ts";
import type { StepContext } from "../definition/step-context.ts";
import { linkAgain, type Pairs, unlinkAgain, withoutPairs, writtenPairs } from "./entity-links.ts";
import {
  assertProtected,
  assertUnchanged,
  changedColumns,
  definitionOf,
  type FromContext,
  heldRecord,
  resolved,
  soleMatch,
} from "./entity-step.ts";

/** What the step did, for its compensation. */
interface Memo {
  readonly before: Row;
  readonly after: Row;
  readonly secret: readonly string[];
  readonly linked: readonly Pairs[];
  readonly unlinked: readonly Pairs[];
}

/**
 * A step that changes one record, by the rules of update; its compensation gives the changed fields their previous values
 * back, if they still are what this step wrote, and links again what it unlinked.
 * @param where conditions that one record meets, such as `{ id }`
 * @param data what to change
 */
export function updateEntityStep(entity: EntityRef, where: FromContext<Where>, data: FromContext<Row>): Step;
export function updateEntityStep(
  name: string,
  entity: EntityRef,
  where: FromContext<Where>,
  data: FromContext<Row>,
): Step;
export function updateEntityStep(...given: readonly unknown[]): Step {
  const isNamed = given.length > 3;
  const [entity, where, data] = (isNamed ? given.slice(1) : given) as [EntityRef, FromContext<Where>, FromContext<Row>];
  if (isNamed && typeof given[0] !== "string") throw new ConfigurationError("The name of a step must be a text");
  return Object.freeze<Step>({
    name: isNamed ? (given[0] as string) : `update-${entityName(entity)}`,
    atomic: true,
    transactional: true,
    async execute(context) {
      assertProtected(entity, context);
      const id = await soleMatch(context, entity, await resolved(where, context), "update");
      const before = id === undefined ? null : await heldRecord(context, entity, id);
      const changes = await resolved(data, context);
      const linked = before === null ? [] : await writtenPairs(context, entity, id as string, changes);
      // Without a record the gate says what is wrong: missing, or not for this caller.
      await update(context, entity, id ?? "", changes, before);
      const after = (await context.driver.findOne(entity, { id })) as Row;
      const links = await writtenPairs(context, entity, id as string, changes);
      const columns = changedColumns(before as Row, after);
      const secret = Object.keys(changes).filter((name) => definitionOf(entity, context)?.fields[name]?.password);
      return new WithMemo(after, {
        before: pick(before as Row, columns),
        after: pick(after, [...columns, "id"]),
        secret,
        linked: withoutPairs(links, linked),
        unlinked: withoutPairs(linked, links),
      });
    },
    async compensate(context, _, memo) {
      const { before, after, secret, linked, unlinked } = memo as Memo;
      if (secret.length > 0)
        throw new ConflictError(`A password that was changed cannot be taken back: ${secret.join(", ")}`);
      const id = after.id as string;
      const now = await heldRecord(context, entity, id);
      if (now === null) throw new ConflictError(`${entityName(entity)} ${id} has been deleted since`);
      assertUnchanged(entity, now, after, Object.keys(before));
      if (Object.keys(before).length > 0) await update(context, entity, id, before, now);
      await unlinkAgain(context, linked);
      await linkAgain(context, unlinked);
    },
  });
}

async function update(
  context: StepContext,
  entity: EntityRef,
  id: string,
  data: Row,
  before: Row | null,
): Promise<void> {
  const { scope, driver } = context;
  if (scope !== undefined) await scope.run({ kind: "update", entity, id, data });
  else if (before === null || (await driver.update(entity, { id }, data)) === null) throw new EntityNotFoundError();
}

function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}
