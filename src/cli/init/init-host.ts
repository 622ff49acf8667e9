/** What a project is served by. */
export interface Host {
  /** As a person chooses it. */
  readonly label: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** Packages besides those that every project needs; versions are those this package is tested with. */
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
}

export const HOST_NAMES = ["node", "express", "hono", "next"] as const;
export type HostName = (typeof HOST_NAMES)[number];

const SERVER = { dev: "keelson dev src/server.ts", start: "keelson start src/server.ts" };

export const HOSTS: Readonly<Record<HostName, Host>> = {
  node: {
    label: "None: Keelson's own server on node:http",
    scripts: { dev: "keelson dev", start: "keelson start" },
    dependencies: [],
    devDependencies: [],
  },
  express: { label: "Express", scripts: SERVER, dependencies: ["express"], devDependencies: ["@types/express"] },
  hono: { label: "Hono", scripts: SERVER, dependencies: ["hono", "@hono/node-server"], devDependencies: [] },
  next: {
    label: "Next.js",
    scripts: { dev: "next dev", build: "next build", start: "next start" },
    dependencies: ["next", "react", "react-dom"],
    devDependencies: ["@types/react"],
  },
};
