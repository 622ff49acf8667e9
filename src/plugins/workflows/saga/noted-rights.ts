import { type OperationScope, ResponseRights, type ShownRecords } from "../../../gate/index.ts";

/** Notes the rights of a caller to what was noted. Without the service that compares them, they count as lost. */
export async function noteRights(scope: OperationScope, notes: ShownRecords): Promise<void> {
  const rights = rightsIn(scope);
  if (rights === undefined) notes.isKnown = false;
  else await rights.note(scope, notes);
}

/** Whether a caller has the rights that were noted; false if some were not noted. */
export async function hasNotedRights(scope: OperationScope, notes: ShownRecords): Promise<boolean> {
  return (await rightsIn(scope)?.areHeld(scope, notes)) === true;
}

function rightsIn({ services }: OperationScope): ResponseRights | undefined {
  const { id } = ResponseRights;
  return services.has(id) ? services.resolve<ResponseRights>(id) : undefined;
}
