import type { Keelson, KeelsonConfig } from "../../index.ts";
import { createMatrix } from "../access/create-matrix.ts";
import { partsOf } from "../project/app-parts.ts";
import { anonymousWrite } from "./anonymous-write.ts";
import { entityWithoutRules } from "./entity-without-rules.ts";
import type { Finding, LintRule } from "./finding.ts";
import { openProtectedEntity } from "./open-protected-entity.ts";
import { ownersOfSeveralEntities } from "./owners-of-several-entities.ts";
import { remoteServicesOf } from "./remote-services-of.ts";
import { routeWithoutRules } from "./route-without-rules.ts";
import { serviceWithoutTimeout } from "./service-without-timeout.ts";
import { stricterInclude } from "./stricter-include.ts";
import { writableAdminFlag } from "./writable-admin-flag.ts";

/** Every rule of the linter; warnings first. */
export const LINT_RULES: readonly LintRule[] = [
  entityWithoutRules,
  openProtectedEntity,
  anonymousWrite,
  writableAdminFlag,
  routeWithoutRules,
  stricterInclude,
  serviceWithoutTimeout,
  ownersOfSeveralEntities,
];

/** What the rules find in an app, which need not have started. */
export function lintApp(app: Keelson, config: KeelsonConfig): readonly Finding[] {
  const parts = partsOf(app);
  const subject = { ...parts, matrix: createMatrix(parts, config), services: remoteServicesOf(app, parts.model) };
  return LINT_RULES.flatMap(({ id, level, find }) => find(subject).map((place) => ({ id, level, ...place })));
}
