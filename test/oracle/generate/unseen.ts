/** Changes of fields that a caller may not read and that no rule uses: they must not change any response. */
import { showsField } from "../evaluate/shown.ts";
import { rowsOf } from "../evaluate/world.ts";
import type { Call, EntityModel, FieldModel, Meanwhile } from "../model.ts";
import { valueFrom } from "./data.ts";
import type { Making } from "./making.ts";

const READS: readonly Call["do"][] = ["get", "list", "walk", "count", "aggregate", "export"];

export function unseenChange({ random, model, world, by }: Making, call: Call): Meanwhile | undefined {
  if (!READS.includes(call.do)) return undefined;
  const looked = JSON.stringify(model.entities.map(({ rules, fields }) => [rules, fields]));
  const isComputedFrom = ({ fields }: EntityModel, field: FieldModel): boolean =>
    fields.some(({ computedFrom }) => computedFrom === field.name);
  const canChange = (field: FieldModel): boolean =>
    !(field.computedFrom || field.unique || field.encrypted || field.password || field.kind === "datetime") &&
    !looked.includes(`"column":"${field.name}"`);
  const possible = model.entities.flatMap((entity) =>
    entity.fields
      .filter((one) => canChange(one) && !isComputedFrom(entity, one))
      .flatMap((field) =>
        rowsOf(world, entity.name)
          .filter((row) => !showsField({ model, world, by }, entity, field, row))
          .map((row) => ({ entity, field, row })),
      ),
  );
  if (possible.length === 0) return undefined;
  const { entity, field, row } = random.pick(possible);
  return { set: entity.name, id: row.id as string, to: { [field.name]: valueFrom(random, field) } };
}
