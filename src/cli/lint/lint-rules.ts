import type { KeelsonConfig } from "../../index.ts";
import { createMatrix } from "../access/create-matrix.ts";
import type { AppParts } from "../project/app-parts.ts";
import { anonymousWrite } from "./anonymous-write.ts";
import { entityWithoutRules } from "./entity-without-rules.ts";
import type { Finding, LintRule } from "./finding.ts";
import { openProtectedEntity } from "./open-protected-entity.ts";
import { routeWithoutRules } from "./route-without-rules.ts";
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
];

/** What the rules find in an app. */
export function lintApp(parts: AppParts, config: KeelsonConfig): readonly Finding[] {
  const subject = { ...parts, matrix: createMatrix(parts, config) };
  return LINT_RULES.flatMap(({ id, level, find }) => find(subject).map((place) => ({ id, level, ...place })));
}
