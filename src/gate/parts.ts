// What an app's gate is made of, for the fake kernel, which puts the same parts together for one plugin.
export { compileClients } from "./client/in-process-client.ts";
export { entitiesOf } from "./entity-schema.ts";
export { featuresOf, layerDriver } from "./features.ts";
export { GATE_SHAPES, policyDoor } from "./gate.ts";
export { HOOK_NAMES } from "./operation/hook-map.ts";
export type { DeclaredPolicy } from "./operation/policy.ts";
export { compileRuntime } from "./operation/runtime.ts";
export { RequestScope } from "./run/request-scope.ts";
