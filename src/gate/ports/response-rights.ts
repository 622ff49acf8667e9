import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { ShownRecords } from "../operation/shown-records.ts";

/** The service `idempotency.rights`: the rights that the response to a repeated request depends on. */
export interface ResponseRights {
  /** Notes the caller's present rights to what is noted. If a right has been lost since the last call, none is held. */
  note(scope: OperationScope, shown: ShownRecords): Promise<void>;
  /** Whether a caller has the rights that were noted. */
  areHeld(scope: OperationScope, shown: ShownRecords): Promise<boolean>;
}

/** The token of ResponseRights. */
export const ResponseRights: ServiceToken<ResponseRights> = token("idempotency.rights");
