import type { Command } from "./shell/command.ts";

/** A command whose module is loaded when it is called. */
export interface CommandEntry {
  readonly description: string;
  load(): Promise<Command>;
}

/** Commands under one word, such as `db push`. */
export interface CommandGroup {
  readonly description: string;
  readonly entries: CommandTree;
}

export type CommandTree = Readonly<Record<string, CommandEntry | CommandGroup>>;

/** Every command, in the order in which a project usually needs them. */
export const COMMANDS: CommandTree = {
  init: {
    description: "Start a project in an empty folder",
    load: async () => (await import("./commands/init.ts")).init,
  },
  dev: {
    description: "Serve the API, and start again when a file changes",
    load: async () => (await import("./commands/start.ts")).dev,
  },
  start: {
    description: "Serve the API in production",
    load: async () => (await import("./commands/start.ts")).start,
  },
  routes: {
    description: "List every route with its rules",
    load: async () => (await import("./commands/routes.ts")).routes,
  },
  access: {
    description: "Show who may do what, and what has widened",
    load: async () => (await import("./commands/access.ts")).access,
  },
  lint: {
    description: "Name what is likely to be a mistake in the definitions",
    load: async () => (await import("./commands/lint.ts")).lint,
  },
  doctor: {
    description: "Check that everything the app needs is in place",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  openapi: {
    description: "Write the OpenAPI document",
    load: async () => (await import("./commands/openapi.ts")).openapi,
  },
  import: {
    description: "Write the entities of an existing database",
    load: async () => (await import("./commands/import.ts")).importCommand,
  },
  generate: {
    description: "Write the Prisma schema of the entities",
    load: async () => (await import("./commands/generate.ts")).generate,
  },
  db: {
    description: "Compare the database with the entities, and change it",
    entries: {
      push: {
        description: "Change the tables to fit the entities, without a migration",
        load: async () => (await import("./commands/db.ts")).dbPush,
      },
      diff: {
        description: "Show what a push would change",
        load: async () => (await import("./commands/db.ts")).dbDiff,
      },
      status: {
        description: "Tell whether the database fits the entities",
        load: async () => (await import("./commands/db.ts")).dbStatus,
      },
    },
  },
  migrate: {
    description: "Write migrations, and apply them",
    entries: {
      dev: {
        description: "Write the migration for what has changed, and apply it",
        load: async () => (await import("./commands/migrate.ts")).migrateDev,
      },
      deploy: {
        description: "Apply the pending migrations",
        load: async () => (await import("./commands/migrate.ts")).migrateDeploy,
      },
      resolve: {
        description: "Say how a migration ended that failed halfway",
        load: async () => (await import("./commands/migrate.ts")).migrateResolve,
      },
      status: {
        description: "List applied, pending and failed migrations",
        load: async () => (await import("./commands/migrate.ts")).migrateStatus,
      },
    },
  },
  keys: {
    description: "Make, change and count the keys of encrypted fields",
    entries: {
      generate: {
        description: "Print a new key",
        load: async () => (await import("./commands/keys.ts")).keysGenerate,
      },
      rotate: {
        description: "Give every encrypted value the first key",
        load: async () => (await import("./commands/keys.ts")).keysRotate,
      },
      status: {
        description: "Count the stored values of each key",
        load: async () => (await import("./commands/keys.ts")).keysStatus,
      },
      remove: {
        description: "Tell whether a key can be taken out of the configuration",
        load: async () => (await import("./commands/keys.ts")).keysRemove,
      },
    },
  },
};
