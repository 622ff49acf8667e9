import {
  type Driver,
  type EntityLike,
  type KeelsonConfig,
  noopLogger,
  type WorkflowDefinition,
  workflows,
} from "../../../src/index.ts";
import type { WorkflowsOptions } from "../../../src/plugins/workflows/index.ts";
import { createTestApp, type TestApp } from "../../../src/testing/index.ts";

/** The parts of an app with workflows. */
export interface WorkflowAppParts extends Partial<Pick<KeelsonConfig, "clock" | "encryption" | "limits" | "logger">> {
  readonly driver: Driver;
  readonly entities: readonly EntityLike[];
  readonly workflows?: readonly WorkflowDefinition[] | undefined;
  /** @default a journal with its defaults */
  readonly journal?: WorkflowsOptions["journal"];
  readonly encrypted?: boolean | undefined;
  readonly userOf?: WorkflowsOptions["userOf"];
}

/** A started app in this process, with a journal. */
export async function workflowApp({
  workflows: known = [],
  journal = true,
  encrypted = false,
  userOf,
  ...config
}: WorkflowAppParts): Promise<TestApp<readonly EntityLike[]>> {
  const app = createTestApp({
    logger: noopLogger,
    ...config,
    plugins: (defaults) => defaults.replace("workflows", workflows({ workflows: known, journal, encrypted, userOf })),
  });
  try {
    await app.api.ready;
  } catch (error) {
    await app.close();
    throw error;
  }
  return app;
}
