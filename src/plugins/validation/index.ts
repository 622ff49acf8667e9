// Checks input: values by the field's kind, defaults, cross-field validators, and references that must exist.
// Specification sections 2.2, 2.3 and 4.1.
import type { AnyEntity } from "../../entity/index.ts";
import { createPlugin, FieldChecks, type Operation, type OperationKind, type Plugin } from "../../gate/index.ts";
import { ValidationFailedError } from "../../kernel/index.ts";
import { checkReferences, referencesToCheck } from "./check-references.ts";
import { checkValues, fieldChecks } from "./check-values.ts";
import { checkCrossFields } from "./cross-fields.ts";
import { compileInputPlan, type InputPlan, normalizeInput } from "./input-plan.ts";

export { validateCrossFields } from "./cross-fields.ts";

// Hooks: operation:normalize (selects the input that counts), operation:validate (checks it); on create and update.
// No options.

/** Validates input. Without it, input goes to the driver unchecked. */
export function validation(): Plugin {
  return createPlugin({
    id: "validation",
    version: "1.0.0",
    provides: ["validation"],
    setup({ entities, hooks, problem, provide }) {
      provide(FieldChecks, () => fieldChecks);
      const plans = new Map(entities.entities.map((entity) => [entity, compileInputPlan(entities, entity, problem)]));
      const planOf = ({ entity }: Operation): InputPlan => plans.get(entity) as InputPlan;
      const appliesTo = (entity: AnyEntity, kind: OperationKind): boolean => plans.has(entity) && isWrite(kind);
      const options = { appliesTo };
      hooks.on("operation:normalize", (operation) => normalizeInput(planOf(operation), operation), options);
      hooks.on("operation:validate", (operation) => validate(planOf(operation), operation), options);
    },
  });
}

function isWrite(kind: OperationKind): kind is "create" | "update" {
  return kind === "create" || kind === "update";
}

/** Checks values first; checks that need the database, or may wait, only run if the values are valid. */
function validate(plan: InputPlan, operation: Operation): void | Promise<void> {
  refuseNested(plan, operation);
  checkValues(plan, operation);
  const references = referencesToCheck(plan.references, operation);
  const validators = plan.validators[operation.kind as "create" | "update"];
  if (references.length === 0 && validators.length === 0) return;
  // Validators see each record with its changes, and the changed record may decide who sees a referenced one.
  if (operation.ids !== undefined) {
    operation.apart = true;
    return;
  }
  return validateFurther(references, validators, operation);
}

/** Refuses nested writes that no plugin has handled. @throws ValidationFailedError */
function refuseNested({ relations }: InputPlan, { data }: Operation): void {
  for (const name of relations)
    if (data[name] !== undefined) throw new ValidationFailedError({ [name]: "is a relation and cannot be written" });
}

async function validateFurther(
  references: Parameters<typeof checkReferences>[0],
  validators: Parameters<typeof checkCrossFields>[0],
  operation: Operation,
): Promise<void> {
  if (references.length > 0) await checkReferences(references, operation);
  if (validators.length > 0) await checkCrossFields(validators, operation);
}
