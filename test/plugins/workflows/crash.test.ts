import { describeCrashes } from "../../support/workflows/crash-suite.ts";
import { SHARED_DATABASES } from "../../support/workflows/order-databases.ts";

for (const [name, open] of SHARED_DATABASES)
  describeCrashes(name, { engine: "journal", open, concurrentTransactions: name === "PostgreSQL" });
