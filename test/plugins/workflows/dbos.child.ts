// A process that starts a run and dies in one of its steps. Arguments: database, run id, input.
import { runWorkflow } from "../../../src/index.ts";
import { openApp, placeAll } from "./dbos-app.ts";

const [url, runId, input] = process.argv.slice(2) as [string, string, string];
const { api } = openApp(url);
await api.ready;
await runWorkflow(placeAll, { resolve: api.resolve, user: { id: "ann" }, runId, input: JSON.parse(input) });
