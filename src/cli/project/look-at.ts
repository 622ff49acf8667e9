import { type AppParts, partsOf } from "./app-parts.ts";
import type { Project } from "./project.ts";
import { withIdleApp } from "./with-idle-app.ts";

/**
 * What a project's app is made of; nothing is opened for it.
 * @throws ConfigurationError with everything that keeps the app from being made
 */
export function lookAt(project: Project): Promise<AppParts> {
  return withIdleApp(project, partsOf);
}
