// What an app's gate is made of, for the fake kernel, which puts the same parts together for one plugin.
export { createChangeSeam } from "./change/change-seam.ts";
export { compileClients } from "./client/in-process-client.ts";
export { entitiesOf } from "./entity-schema.ts";
export { featuresOf, layerDriver } from "./features.ts";
export { type DeclaredRecords, GATE_SHAPES, recordsDoor } from "./gate.ts";
export { HOOK_NAMES } from "./operation/hook-map.ts";
export { compileRuntime } from "./operation/runtime.ts";
export { RequestScope } from "./run/request-scope.ts";
