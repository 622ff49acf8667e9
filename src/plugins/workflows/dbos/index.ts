// keelson/dbos: runs workflows on DBOS, which has to be installed. docs/adr/0017-run-workflows-on-dbos-with-leases.md
export { type DbosOptions, dbosEngine } from "./dbos-engine.ts";
