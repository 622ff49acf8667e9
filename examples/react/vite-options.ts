import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { InlineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The options of a project's `vite.config.ts`. A project needs no aliases, because `keelson` is a package there.
 * @param root folder of `index.html`
 */
export function viteOptions(root: string = here("page/")): InlineConfig {
  return {
    root,
    configFile: false,
    logLevel: "warn",
    plugins: [react()],
    resolve: {
      alias: [
        { find: /^keelson\/client$/, replacement: here("../../src/client/index.ts") },
        { find: /^keelson\/react-query$/, replacement: here("../../src/client/react-query/index.ts") },
      ],
    },
  };
}
