import { describeCrashes } from "../../support/workflows/crash-suite.ts";
import { openPostgres } from "../../support/workflows/order-databases.ts";

describeCrashes("DBOS", { engine: "dbos", open: openPostgres, concurrentTransactions: true });
