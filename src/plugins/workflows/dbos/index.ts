// keelson/dbos: runs workflows on DBOS, which has to be installed. docs/adr/0017-workflows-on-dbos.md
export { type DbosOptions, dbosEngine } from "./dbos-engine.ts";
