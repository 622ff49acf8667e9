import { ConfigurationError } from "../../../entity/index.ts";

const PACKAGE = "@dbos-inc/dbos-sdk";

/** What this adapter needs of the optional package. */
export type DbosSdk = Pick<typeof import("@dbos-inc/dbos-sdk"), "DBOS" | "DBOSWorkflowConflictError">;

/** @throws ConfigurationError with the command that installs it, when it is not installed */
export async function loadDbos(load: () => Promise<DbosSdk> = () => import("@dbos-inc/dbos-sdk")): Promise<DbosSdk> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    const isMissing = code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`${PACKAGE}'`);
    throw new ConfigurationError(
      isMissing
        ? `dbosEngine() needs "${PACKAGE}". Run: npm i ${PACKAGE}`
        : `dbosEngine() cannot load "${PACKAGE}": ${String(message)}`,
      { cause: error },
    );
  }
}
