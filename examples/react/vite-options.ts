import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { InlineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * What a project has in its `vite.config.ts`, besides the aliases: there, `keelson` is a package.
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
